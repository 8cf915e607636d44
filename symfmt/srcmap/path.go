package srcmap

import "strings"

// Prefix is a replacement for the start of a path.
type Prefix struct{ Old, New string }

// ReplacePrefix replaces the start of a path; the last matching entry counts.
func ReplacePrefix(prefixes []Prefix, path string) string {
	for i := len(prefixes) - 1; i >= 0; i-- {
		if p := prefixes[i]; strings.HasPrefix(path, p.Old) {
			return p.New + path[len(p.Old):]
		}
	}
	return path
}

// IsAbs reports whether a path is absolute on the system where it was made.
func IsAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || isDrive(p)
}

func isDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// Join joins dir and name with the separator that dir uses.
func Join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	case strings.HasSuffix(dir, "/") || strings.HasSuffix(dir, `\`):
		return dir + name
	case isDrive(dir) && !strings.Contains(dir, "/"):
		return dir + `\` + name
	}
	return dir + "/" + name
}

// cleanPath removes ".", ".." and doubled separators from a path without
// accessing any file. The remaining separators are kept.
func cleanPath(p string) string {
	root := 0
	if isDrive(p) {
		root = 3
	}
	for root < len(p) && isSeparator(p[root]) {
		root++
	}
	var parts []string // each with the separator after it
	for rest := p[root:]; rest != ""; {
		n := strings.IndexAny(rest, `/\`) + 1
		if n == 0 {
			n = len(rest)
		}
		part, name := rest[:n], strings.TrimRight(rest[:n], `/\`)
		rest = rest[n:]
		switch last := len(parts) - 1; {
		case name == "" || name == ".":
		case name != "..":
			parts = append(parts, part)
		case last >= 0 && strings.TrimRight(parts[last], `/\`) != "..":
			parts = parts[:last]
		case root == 0:
			parts = append(parts, part)
		}
	}
	clean := p[:root] + strings.Join(parts, "")
	if clean == "" {
		return p
	}
	return clean
}

func isSeparator(b byte) bool { return b == '/' || b == '\\' }

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }
