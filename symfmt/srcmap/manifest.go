package srcmap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/symtool/symtool/internal/pattern"
	"github.com/symtool/symtool/internal/text"
)

// Manifest is an install manifest of Mozilla's build system
// (python/mozbuild/mozpack/manifests.py), versions 1 to 5: a list of the files
// that the build put into a folder and of their origins. The first line is the
// version; each other line is a record with fields separated by U+001F. These
// records matter:
//
//	1 or 2 (link, copy)            place, origin
//	5 or 6 (links, copies)         key, base, pattern, folder
//	7 (preprocessed)               place, origin, ...
//
// Records of files that exist anyway (3, 4) or have no origin (8) do not
// contain origins; records below 0 do not describe files.
type Manifest struct {
	compiler pattern.Compiler
	dirs     []string // where the places are; each but "" ends in a slash
	files    map[string]string
	patterns []manifestPattern
}

type manifestPattern struct {
	folder, base string
	match        *regexp.Regexp
}

const (
	manifestSeparator = "\x1f"
	maxManifestLine   = 1 << 20 // bytes; records of version 5 may hold a file
	newestManifest    = 5
)

// ReadManifest reads the manifest of a folder, which may have several names: a
// relative name applies to relative paths. file is used in errors.
func ReadManifest(r io.Reader, file string, dirs ...string) (*Manifest, error) {
	m := &Manifest{files: map[string]string{}}
	for _, dir := range dirs {
		dir = strings.TrimRight(slashes(cleanPath(dir)), "/") + "/"
		if dir == "./" {
			dir = ""
		}
		m.dirs = append(m.dirs, dir)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxManifestLine)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimRight(lines.Text(), " \t\r")
		err := m.record(line)
		if n == 1 {
			err = checkManifestVersion(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s:%d: line of more than %d bytes", file, n+1, maxManifestLine)
	case err != nil:
		return nil, fmt.Errorf("%s:%d: %w", file, n+1, err)
	case n == 0:
		return nil, fmt.Errorf("%s: empty, want an install manifest", file)
	}
	return m, nil
}

func checkManifestVersion(line string) error {
	if len(line) == 1 && line[0] >= '1' && line[0] <= '0'+newestManifest {
		return nil
	}
	return fmt.Errorf("version of an install manifest is %.20q, want 1 to %d", line, newestManifest)
}

// record reads one line.
func (m *Manifest) record(line string) error {
	f := strings.Split(line, manifestSeparator)
	want := map[string]int{"1": 3, "2": 3, "3": 2, "4": 2, "5": 5, "6": 5, "7": 4, "8": 3}[f[0]]
	switch {
	case strings.HasPrefix(f[0], "-"):
		return nil
	case want == 0:
		return fmt.Errorf("record of type %.20q, want 1 to 8", f[0])
	case len(f) < want:
		return fmt.Errorf("record of type %s has %d fields, want %d", f[0], len(f), want)
	}
	switch f[0] {
	case "1", "2", "7":
		place := slashes(cleanPath(f[1]))
		if _, again := m.files[place]; again {
			return fmt.Errorf("%s is listed twice", text.Printable(f[1]))
		}
		m.files[place] = f[2]
	case "5", "6":
		match, err := m.compiler.Compile(patternExpr(f[3]))
		if err != nil {
			return err
		}
		folder := ""
		if f[4] != "" {
			folder = strings.TrimRight(slashes(cleanPath(f[4])), "/") + "/"
		}
		m.patterns = append(m.patterns, manifestPattern{folder, f[2], match})
	}
	return nil
}

// patternExpr returns a mozpack.path pattern as a regular expression: * matches
// inside a folder, ** any number of folders, and a folder matches everything below
// it.
func patternExpr(pattern string) string {
	var b strings.Builder
	b.WriteByte('^')
	parts := strings.Split(slashes(pattern), "/")
	for i, p := range parts {
		last := i == len(parts)-1
		switch {
		case p == "" && last:
		case p == "**" && last:
			b.WriteString(".+")
		case p == "**":
			b.WriteString("(?:.+/)?")
		default:
			b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(p), `\*`, "[^/]*"))
			if !last {
				b.WriteByte('/')
			}
		}
	}
	b.WriteString("(?:/.*)?$")
	if pattern == "" {
		return "^"
	}
	return b.String()
}

// Origin returns the path of the file that the build copied to the given path.
func (m *Manifest) Origin(path string) (string, bool) {
	path = slashes(cleanPath(path))
	for _, dir := range m.dirs {
		place, ok := strings.CutPrefix(path, dir)
		if !ok || IsAbs(place) || strings.HasPrefix(place, "../") {
			continue // a folder, even the current one, contains only what is below it
		}
		if from, ok := m.origin(place); ok {
			return from, true
		}
	}
	return "", false
}

// origin is like Origin, for a path relative to the folder.
func (m *Manifest) origin(place string) (string, bool) {
	if from, ok := m.files[place]; ok {
		return from, true
	}
	for i := range m.patterns {
		p := &m.patterns[i]
		if rest, ok := strings.CutPrefix(place, p.folder); ok && p.match.MatchString(rest) {
			return Join(p.base, rest), true
		}
	}
	return "", false
}
