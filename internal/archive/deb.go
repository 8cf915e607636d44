package archive

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	arMagic  = "!<arch>\n"
	debFirst = "debian-binary" // the name of a package's first member
	debData  = "data.tar"      // the name of the member to install, before the extension of its compression

	arHeaderSize = 60
	arEnd        = "`\n" // ends a header
)

// deb reads a Debian package: an ar archive with one member that holds the files (deb(5)).
func (w *walker) deb(in *input) error {
	if _, err := in.r.Discard(len(arMagic)); err != nil {
		return err
	}
	for {
		name, size, err := arHeader(in.r)
		if err == io.EOF {
			return fmt.Errorf("no %s in the package", debData)
		}
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, debData) {
			return w.debData(in, name, size)
		}
		if _, err := io.CopyN(io.Discard, in.r, size+size&1); err != nil {
			return err
		}
	}
}

// debData reads the member that holds the files.
func (w *walker) debData(in *input, name string, size int64) error {
	contents, before := &exactReader{in.r, size}, w.problems
	data := newInput(contents, in.chain, name, in.depth+1)
	data.must = true
	if w.look(data); contents.left > 0 && w.problems == before {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// arHeader reads the header of a member and returns its name and its size, which is in decimal from byte 48. At the
// end of the archive, the error is io.EOF.
func arHeader(r io.Reader) (name string, size int64, err error) {
	var head [arHeaderSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", 0, err
	}
	name = strings.TrimRight(string(head[:16]), " /")
	size, err = strconv.ParseInt(string(bytes.TrimSpace(head[48:58])), 10, 64)
	if err != nil || size < 0 || string(head[58:]) != arEnd {
		return "", 0, fmt.Errorf("ar header %q: want a name, a size and %q", head, arEnd)
	}
	return name, size, nil
}
