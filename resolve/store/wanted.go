package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// ReadWanted reads a list of modules, one per line: NAME/ID, optionally followed by the rest of a
// symbol file's path; NAME,ID with any further columns, as in CSV files of crash servers; NAME
// ID; or a MODULE record. Blank lines and lines that begin with # are skipped.
func ReadWanted(r io.Reader, use func(Place) error) error {
	const longest = 64 << 10
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if text == "" || text[0] == '#' || strings.HasPrefix(text, "debug_file,") || strings.HasPrefix(text, `"debug_file",`) {
			continue
		}
		name, id, err := nameAndID(text)
		if err == nil {
			var p Place
			if p, err = NewPlace(name, id); err == nil {
				if err := use(p); err != nil {
					return err
				}
			}
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("line %d: more than %d bytes", n+1, longest)
	}
	return lines.Err()
}

// nameAndID parses a line.
func nameAndID(text string) (name, id string, err error) {
	rd := symfmt.NewReader(nil, symfmt.ReadOptions{})
	rd.ResetText([]byte(text + "\n"))
	rec, err := rd.Next()
	var bad *symfmt.SyntaxError
	switch {
	case err == nil && rec.Kind == symfmt.KindModule:
		return string(rec.Name), string(rec.DebugID), nil
	case errors.As(err, &bad) && bad.Record == symfmt.KindModule.String():
		return "", "", fmt.Errorf("%q: want MODULE OS ARCH ID NAME", clipped(text))
	}
	// A name may contain commas, and further columns of a CSV file slashes. The
	// first separator counts, unless only the other one is followed by an id.
	if i := strings.IndexAny(text, "/,"); i >= 0 {
		name, id = columns(text, text[i])
		if other := '/' + ',' - text[i]; checkID(id) != nil && strings.IndexByte(text, other) >= 0 {
			if n, d := columns(text, other); checkID(d) == nil {
				return n, d, nil
			}
		}
		return name, id, nil
	}
	i := strings.LastIndexAny(text, " \t")
	if i < 0 {
		return "", "", fmt.Errorf("%q: want NAME/ID or NAME ID", clipped(text))
	}
	return strings.TrimSpace(text[:i]), text[i+1:], nil
}

// Has returns the place of a module's symbol file below the store, or "" if there is none.
func (s *Store) Has(p Place) (string, error) { return s.find(p, symbolExt) }

// HasVariables returns the place of the file with a module's variables below the store, or "" if there is none.
func (s *Store) HasVariables(p Place) (string, error) { return s.find(p, variablesExt) }

func (s *Store) find(p Place, ext string) (string, error) {
	path, err := s.there(p.Path(ext))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return path, err
}

// columns returns the first two columns of a line.
func columns(text string, separator byte) (first, second string) {
	parts := strings.SplitN(text, string(separator), 3)
	return unquoted(parts[0]), unquoted(parts[1])
}

// unquoted returns a column of a CSV file, which may be in quotes.
func unquoted(column string) string {
	column = strings.TrimSpace(column)
	if n := len(column); n >= 2 && column[0] == '"' && column[n-1] == '"' {
		return strings.ReplaceAll(column[1:n-1], `""`, `"`)
	}
	return column
}
