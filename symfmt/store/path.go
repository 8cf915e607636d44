// Package store knows the layout in which symbol servers and stack walkers
// look for symbol files: NAME/ID/NAME.sym below a root, NAME and ID as in the
// MODULE record (Breakpad's SimpleSymbolSupplier).
//
// # Where we differ
//
//   - from Breakpad's suppliers, which take any name: one that would leave the
//     root, hide a file or change a terminal is refused (TestRefused).
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

// maxName is the longest name of a file on Linux and on most other systems, in
// bytes (NAME_MAX). Longer ones are refused with a message that says why.
const maxName = 255

// Path is the place of m's symbol file below the root of a store, with slashes
// of this system. ext is what follows NAME: ".sym" or ".sym.gz". Folders in
// front of MODULE's name, of Unix or Windows, do not count.
func Path(m *symfmt.Module, ext string) (string, error) {
	name := m.Name[strings.LastIndexAny(m.Name, `/\`)+1:]
	if err := checkName(name, ext); err != nil {
		return "", fmt.Errorf("MODULE name %q: %w", m.Name, err)
	}
	if err := checkID(m.ID); err != nil {
		return "", fmt.Errorf("MODULE id %q: %w", m.ID, err)
	}
	return filepath.Join(name, m.ID, name+ext), nil
}

func checkName(name, ext string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case name == "." || name == "..":
		return errors.New("is not the name of a file")
	case len(name)+len(ext) > maxName:
		return fmt.Errorf("%d bytes, want at most %d", len(name), maxName-len(ext))
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
