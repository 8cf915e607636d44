package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Compression is a way to compress symbol files. Equal texts result in equal bytes.
type Compression struct {
	Name string // gzip or zstd
	Ext  string // what it appends to a file's name
	// Writer compresses what is written to it, up to Close.
	Writer func(io.Writer) (io.WriteCloser, error)
}

// Compressions are the ways to compress symbol files.
var Compressions = []Compression{
	{"gzip", ".gz", func(w io.Writer) (io.WriteCloser, error) {
		// Neither time nor name.
		z := gzip.NewWriter(w)
		z.ModTime = time.Unix(0, 0)
		return z, nil
	}},
	{"zstd", ".zst", func(w io.Writer) (io.WriteCloser, error) {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	}},
}

// The extensions of symbol files, and of files with only the variables of a module.
const (
	symbolExt    = ".sym"
	variablesExt = ".vars"
)

// variants returns the places of a symbol file, or of one with variables, with each compression, place
// first. For other files it returns place.
func variants(place string) []string {
	all := []string{place}
	stem, text, ok := StemOf(place)
	if !ok {
		return all
	}
	for _, ext := range append([]Compression{{}}, Compressions...) {
		if other := stem + text + ext.Ext; other != place {
			all = append(all, other)
		}
	}
	return all
}

// StemOf returns the name of a symbol file, or of one with variables, without its extensions, and the
// extension that says which of them it is.
func StemOf(name string) (stem, ext string, ok bool) {
	for _, c := range Compressions {
		if rest, cut := strings.CutSuffix(name, c.Ext); cut {
			name = rest
			break
		}
	}
	for _, ext := range []string{symbolExt, variablesExt} {
		if stem, ok = strings.CutSuffix(name, ext); ok {
			return stem, ext, true
		}
	}
	return name, "", false
}

// sameText reports whether two files of the store have the same text,
// compressed or not, with a digest or without. Damaged data is the same as nothing.
func (s *Store) sameText(a, b string) (bool, error) {
	fa, err := s.root.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := s.root.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	ta, _, err := symfmt.Decompress(fa)
	if err == nil {
		var tb io.Reader
		if tb, _, err = symfmt.Decompress(fb); err == nil {
			return sameBytes(symfmt.WithoutDigest(ta), symfmt.WithoutDigest(tb))
		}
	}
	return false, unlessDamaged(err)
}

func sameBytes(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, writeBuffer), make([]byte, writeBuffer)
	for {
		na, errA := bin.Fill(a, bufA)
		nb, errB := bin.Fill(b, bufB)
		if !bytes.Equal(bufA[:na], bufB[:nb]) {
			return false, nil
		}
		if errA == io.EOF && errB == io.EOF {
			return true, nil
		}
		for _, err := range []error{errA, errB} {
			if err != nil && err != io.EOF {
				return false, unlessDamaged(err)
			}
		}
	}
}

// unlessDamaged returns err if it is from reading a file, and nil if it is an error in the file's
// contents.
func unlessDamaged(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return err
	}
	return nil
}

// Inspected is what a symbol file says about itself.
type Inspected struct {
	Place            Place
	Ext              string   // of its name in a store: ".sym", or ".vars" if it has only variables
	OS, Arch         string   // of MODULE
	CodeID, CodeFile string   // of INFO CODE_ID, or ""
	Faults           []string // of a file that was accepted nevertheless
}

// InspectOptions configure Inspect. With the zero value, it accepts the files that Add does.
type InspectOptions struct {
	Damaged bool // accept files with unreadable records, too
}

// Inspect reads a symbol file, which may be compressed, to its end, and passes its text on to use.
func Inspect(in io.Reader, use io.Writer, o InspectOptions) (*Inspected, error) {
	c, err := check(in, use)
	if err != nil {
		return nil, err
	}
	f := &Inspected{Ext: c.ext(), OS: c.os, Arch: c.arch}
	if f.Faults, err = c.taken(o.Damaged); err != nil {
		return nil, err
	}
	if f.Place, err = NewPlace(c.name, c.id); err != nil {
		return nil, fmt.Errorf("MODULE %w", err)
	}
	f.CodeID, f.CodeFile, _ = strings.Cut(c.code, " ")
	return f, nil
}
