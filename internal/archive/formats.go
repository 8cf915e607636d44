package archive

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/unpack"
)

// Format is a file format: an archive, or one that Walk does not read.
type Format struct {
	What  string // a description with its article, for messages
	match func(head []byte) bool
	walk  func(*walker, *input) error // nil for a format that is not read
	hint  string                      // what to do instead, if the format is not read
}

// Hint returns what to do with a format that Walk does not read, or "" for one that Walk reads.
func (f *Format) Hint() string { return f.hint }

// unread returns the error for a format that is not read.
func (f *Format) unread() error { return fmt.Errorf("%s, which is not read: %s", f.What, f.hint) }

// formats lists all formats. Compressed data may be an archive or a single file.
var formats []Format

func init() { // not an initializer, as formats lists functions that call Find, which reads it
	formats = []Format{
		{What: "a Debian package", match: begins(arMagic + debFirst), walk: (*walker).deb},
		{What: "an RPM package", match: begins(rpmMagic), walk: (*walker).rpm},
		{What: "a zip archive", match: begins("PK\x03\x04", "PK\x05\x06"), walk: (*walker).zip},
		{What: "a tar archive", match: isTar, walk: (*walker).tar},
		{What: "a cpio archive", match: begins(cpioNew, cpioSum, cpioOld), walk: (*walker).cpio},
		{What: "a compressed file", match: func(head []byte) bool { return unpack.Find(head) != nil }, walk: (*walker).packed},

		{What: "an AppImage", match: isAppImage, hint: "unpack it with --appimage-extract, and name the folder squashfs-root"},
		{What: "an Alpine package of version 3", match: begins("ADB"), hint: "unpack it with apk extract"},
		{What: "a squashfs file system", match: begins("hsqs", "sqsh"), hint: "unpack it with unsquashfs, and name the folder"},
		{What: "a 7-Zip archive", match: begins("7z\xbc\xaf\x27\x1c"), hint: "unpack it with 7z, and name the folder"},
		{What: "a RAR archive", match: begins("Rar!\x1a\x07"), hint: "unpack it with unrar, and name the folder"},
		{What: "an xar archive", match: begins("xar!"), hint: "unpack it with xar or pkgutil, and name the folder"},
		{What: "a cabinet", match: begins("MSCF"), hint: "unpack it with cabextract, and name the folder"},
		{What: "a Windows installer", match: begins("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), hint: "unpack it with msiextract, and name the folder"},
		{What: "an lzip file", match: begins("LZIP"), hint: "unpack it with lzip"},
	}
}

// isAppImage reports whether head begins an AppImage: an ELF program followed by a file system, with a magic number
// in the padding of e_ident (AppImage specification, "Type 1" and "Type 2").
func isAppImage(head []byte) bool {
	return len(head) > 10 && string(head[:4]) == "\x7fELF" && string(head[8:10]) == "AI" && (head[10] == 1 || head[10] == 2)
}

func begins(magics ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// Find returns the format of a file that begins with head, at most HeadSize bytes, or nil.
func Find(head []byte) *Format {
	for i := range formats {
		if formats[i].match(head) {
			return &formats[i]
		}
	}
	return nil
}

// packed reads a compressed file: an archive, or a single file, which is named without the extension. A file without
// such an extension that is damaged from the start may be anything, and is skipped.
func (w *walker) packed(in *input) error {
	head, _ := in.r.Peek(HeadSize)
	p := unpack.Find(head)
	z, err := p.Open(in.r)
	if err != nil {
		return in.certain(p.Damaged(err))
	}
	defer z.Close()
	plain := newInput(w.charged(&damage{p, z}), in.chain, in.name, in.depth+1)
	plain.must = in.must
	if _, err := plain.r.Peek(HeadSize); err != nil && err != io.EOF {
		return in.certain(err)
	}
	for _, ext := range extensions {
		plain.name = strings.TrimSuffix(plain.name, ext)
	}
	w.look(plain)
	return nil
}

// extensions are the extensions of compressed files.
var extensions = []string{".gz", ".xz", ".zst", ".bz2", ".lz4", ".tgz", ".txz"}

// certain returns err if the input is known to be compressed, and nil if only its first bytes suggest it.
func (in *input) certain(err error) error {
	if in.must || slices.Contains(extensions, path.Ext(in.name)) {
		return err
	}
	return nil
}

// damage adds the name of the compression to errors of damaged data.
type damage struct {
	p *unpack.Packing
	r io.Reader
}

func (d *damage) Read(b []byte) (int, error) {
	n, err := d.r.Read(b)
	if err != nil && err != io.EOF {
		err = d.p.Damaged(err)
	}
	return n, err
}
