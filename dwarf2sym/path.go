package dwarf2sym

import "strings"

// path returns the name of a file of the line table: the entry's name joined
// with its directory, and with the unit's where that is relative too, and
// otherwise unchanged ("." and ".." stay, nothing is looked up). DWARF 5
// (6.2.4) makes directory 0 the compilation directory, which is then not
// joined once more: GCC's relative ones would double.
func (t *lineTable) path(u *unit, file uint64) (string, bool) {
	if file >= uint64(len(t.files)) {
		return "", false
	}
	e := &t.files[file]
	name := t.text(u, e.name)
	if name == "" || isAbs(name) {
		return name, name != ""
	}
	dir := ""
	if e.dir < uint64(len(t.dirs)) {
		dir = t.text(u, t.dirs[e.dir])
	}
	if (t.version < 5 || e.dir != 0) && !isAbs(dir) {
		dir = join(u.compDir, dir)
	}
	return join(dir, name), true
}

// text returns a name of the file tables.
func (t *lineTable) text(u *unit, v value) string {
	var b []byte
	if v.kind == vInline {
		b, _ = cstring(t.data, v.u)
	} else {
		b, _ = u.text(v)
	}
	return string(b)
}

// MapPath replaces the beginning of a path: the last entry that matches counts.
func MapPath(prefixes []PrefixMap, path string) string {
	for i := len(prefixes) - 1; i >= 0; i-- {
		if p := prefixes[i]; strings.HasPrefix(path, p.Old) {
			return p.New + path[len(p.Old):]
		}
	}
	return path
}

// isAbs reports whether a path is absolute on the system it was made on.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`) || isDrive(p)
}

func isDrive(p string) bool {
	return len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// join puts a separator between dir and name: the one that dir uses.
func join(dir, name string) string {
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
