// Package store implements the layout in which symbol servers and stack
// walkers look for symbol files: NAME/ID/STEM.sym below a root. NAME and ID
// are as in the MODULE record, and STEM is NAME without a trailing .pdb
// (Breakpad's SimpleSymbolSupplier). Open opens a store, whose methods add,
// list, verify and remove files.
//
// # Where we differ
//
//   - Breakpad's suppliers accept any name. Here one that would leave the root,
//     hide a file or affect a terminal is refused (TestRefused).
package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/symtool/symtool/symfmt"
)

// maxName is the maximum length in bytes of a file name on Linux and most other
// systems (NAME_MAX). Longer ones are refused with a message that says so.
const maxName = 255

// Path returns the place of m's symbol file below the root of a store, with
// this system's separators. ext is what follows STEM: ".sym" or ".sym.gz".
func Path(m *symfmt.Module, ext string) (string, error) {
	return breakpadPath(&File{Contents: Symbols, Name: m.Name, ID: m.ID, Ext: ext})
}

// Place is where a module's symbol files are. Its parts are valid file names,
// which never lead out of a folder.
type Place struct{ Name, ID, Stem string }

// NewPlace checks a module's name and id, which may come from anywhere.
// Leading folders of the name, in the form of Unix or Windows, are ignored.
func NewPlace(name, id string) (Place, error) {
	p, err := NewFolder(name)
	if err != nil {
		return p, err
	}
	if err := checkID(id); err != nil {
		return p, fmt.Errorf("id %q: %w", clipped(id), err)
	}
	p.ID = id
	return p, nil
}

// NewFolder is like NewPlace, for a module whose id is unknown.
func NewFolder(name string) (Place, error) {
	base := name[strings.LastIndexAny(name, `/\`)+1:]
	p := Place{Name: base, Stem: base}
	if n := len(base) - len(".pdb"); n > 0 && strings.EqualFold(base[n:], ".pdb") {
		p.Stem = base[:n]
	}
	err := checkName(base)
	if err == nil {
		err = p.checkExt(".sym")
	}
	if err != nil {
		return p, fmt.Errorf("name %q: %w", clipped(name), err)
	}
	return p, nil
}

// Path returns the path of the symbol file below the root. ext is what follows Stem.
func (p Place) Path(ext string) string { return filepath.Join(p.Name, p.ID, p.Stem+ext) }

// checkExt returns an error unless the name has room for an extension.
func (p Place) checkExt(ext string) error {
	if n := len(p.Stem) + len(ext); n > maxName {
		return fmt.Errorf("%d bytes, want at most %d", len(p.Name), len(p.Name)+maxName-n)
	}
	return nil
}

// clipped shortens a text for a message.
func clipped(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return text[:most] + "..."
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case name == "." || name == ".." || !filepath.IsLocal(name): // such as NUL, on Windows
		return errors.New("is not the name of a file")
	case len(name) > maxName:
		return fmt.Errorf("%d bytes, want at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return errors.New("is not UTF-8")
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Errorf("has the control character %U", r)
		}
	}
	return nil
}

func checkID(id string) error {
	if id == "" {
		return errors.New("is empty")
	}
	if len(id) > maxName {
		return fmt.Errorf("%d digits, want at most %d", len(id), maxName)
	}
	for _, c := range []byte(id) {
		if !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return errors.New("is not hexadecimal")
		}
	}
	return nil
}
