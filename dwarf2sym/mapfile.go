package dwarf2sym

import (
	"crypto/md5"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/symtool/symtool/internal/bin"
)

// sourceFile is a file of this machine that a rule wants the digest of.
type sourceFile struct {
	once        sync.Once
	path        string
	sha512, md5 string // hexadecimal, in lower case
	err         error
}

// maxSource is the size that no source file has. The paths come from the input:
// one may be that of the machine's memory.
const maxSource = 1 << 30

var errTooLarge = fmt.Errorf("more than %d bytes: no source file", maxSource)

// read returns the first of several files that is there, or why none is.
func (m *Mapping) read(places []string) *sourceFile {
	var missing error
	for _, path := range places {
		v, ok := m.files.Load(path)
		if !ok {
			v, _ = m.files.LoadOrStore(path, &sourceFile{path: path})
		}
		f := v.(*sourceFile)
		f.once.Do(f.read)
		if !errors.Is(f.err, fs.ErrNotExist) {
			return f
		}
		if missing == nil {
			missing = f.err
		} else {
			missing = fmt.Errorf("%w; %w", missing, f.err)
		}
	}
	return &sourceFile{err: missing}
}

// read computes the digests.
func (f *sourceFile) read() {
	err := f.digest()
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	if err != nil {
		f.err = fmt.Errorf("%s: %w", bin.Printable(f.path), err)
	}
}

func (f *sourceFile) digest() error {
	// A pipe that nobody writes to would not open.
	file, err := os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return errors.New("not a regular file")
	case st.Size() > maxSource:
		return errTooLarge
	}
	// What has no size and is not empty is made by the kernel as it is read, such as
	// /proc/kmsg, which has one wait for the next message: it is no source file.
	whole := io.LimitReader(file, maxSource+1)
	if st.Size() == 0 {
		whole = strings.NewReader("")
	}
	long, short := sha512.New(), md5.New()
	n, err := io.Copy(io.MultiWriter(long, short), whole)
	switch {
	case err != nil:
		return err
	case n > maxSource:
		return errTooLarge // it grows
	}
	f.sha512, f.md5 = hex.EncodeToString(long.Sum(nil)), hex.EncodeToString(short.Sum(nil))
	return nil
}

// origin returns the path, after the prefix map, of the file that the build put
// at one of the places: a path as it is, and what the prefix map makes of it.
func (m *Mapping) origin(prefixes []PrefixMap, path string, places []string) string {
	for i, place := range places {
		from, ok := m.installed(place)
		switch {
		case !ok:
		case i == 0:
			return MapPath(prefixes, from)
		default:
			return from
		}
	}
	return places[len(places)-1]
}

// installed returns where the file at a path comes from.
func (m *Mapping) installed(path string) (string, bool) {
	for _, manifest := range m.Manifests {
		if from, ok := manifest.Origin(path); ok {
			return from, true
		}
	}
	if !m.Links {
		return "", false
	}
	from, err := filepath.EvalSymlinks(path)
	return from, err == nil
}
