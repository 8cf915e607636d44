package srcmap

import "strings"

// Prefix is a replacement for the beginning of a path.
type Prefix struct{ Old, New string }

// ReplacePrefix replaces the beginning of a path: the last entry that matches counts.
func ReplacePrefix(prefixes []Prefix, path string) string {
	for i := len(prefixes) - 1; i >= 0; i-- {
		if p := prefixes[i]; strings.HasPrefix(path, p.Old) {
			return p.New + path[len(p.Old):]
		}
	}
	return path
}

// IsAbs reports whether a path is absolute on the system it was made on.
func IsAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || isDrive(p)
}

func isDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// Join puts a separator between dir and name: the one that dir uses.
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

// cleanPath takes "." and ".." and doubled separators out of a path, without a
// look at any file. The separators that stay are as they were.
func cleanPath(p string) string {
	root := 0
	if isDrive(p) {
		root = 3
	}
	for root < len(p) && isSeparator(p[root]) {
		root++
	}
	var parts []string // each with the separator behind it
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
