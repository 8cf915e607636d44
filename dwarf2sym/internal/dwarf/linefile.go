package dwarf

import (
	"crypto/md5"
	"encoding/hex"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// Path returns the name of a file of the line table: the entry's name joined with its directory, and with the unit's
// directory if that is relative, too. The name is otherwise unchanged: "." and ".." stay, and no file is looked up. In
// DWARF 5 (6.2.4), directory 0 is the compilation directory, which is not joined with itself: GCC writes relative ones,
// which would double. It reports false if the table has no such file.
func (t *LineTable) Path(u *Unit, file uint64) (string, bool) {
	dir, name, inCompDir, ok := t.entry(u, file)
	if inCompDir {
		dir = srcmap.Join(u.CompDir, dir)
	}
	return srcmap.Join(dir, name), ok
}

// RelativePath is like Path, but does not add the compilation directory.
func (t *LineTable) RelativePath(u *Unit, file uint64) string {
	dir, name, _, _ := t.entry(u, file)
	if t.version >= 5 && dir != "" && t.files[file].dir == 0 {
		return name
	}
	return srcmap.Join(dir, name)
}

// FileFault returns the reason why a file of the line table has no name or an incomplete one, or nil if the name is
// complete. Versions 2 to 4 have no file 0.
func (t *LineTable) FileFault(u *Unit, file uint64) error {
	first := uint64(t.firstFile())
	if len(t.files) == int(first) {
		return t.errorf(u, 0, "file %d of a line table without files", file)
	}
	if file < first || file >= uint64(len(t.files)) {
		return t.errorf(u, 0, "file %d of a line table that has files %d to %d", file, first, len(t.files)-1)
	}
	e := &t.files[file]
	if t.text(u, e.name) == "" {
		return t.errorf(u, 0, "file %d has no name", file)
	}
	if srcmap.IsAbs(t.text(u, e.name)) {
		return nil
	}
	if e.dir >= uint64(len(t.dirs)) {
		return t.errorf(u, 0, "file %d is in directory %d of a line table that has directories 0 to %d", file, e.dir, len(t.dirs)-1)
	}
	if !u.inString(t.dirs[e.dir]) {
		return t.errorf(u, 0, "file %d is in directory %d, which has no name", file, e.dir)
	}
	return nil
}

// InCompDir reports whether a file's directory is the compilation directory.
func (t *LineTable) InCompDir(file uint64) bool {
	return file < uint64(len(t.files)) && t.files[file].dir == 0
}

// entry returns the directory and the name of a file. inCompDir reports whether the directory is relative to the
// compilation directory. An absolute name has no directory.
func (t *LineTable) entry(u *Unit, file uint64) (dir, name string, inCompDir, ok bool) {
	if file >= uint64(len(t.files)) {
		return "", "", false, false
	}
	e := &t.files[file]
	name = t.text(u, e.name)
	if name == "" || srcmap.IsAbs(name) {
		return "", name, false, name != ""
	}
	if e.dir < uint64(len(t.dirs)) {
		dir = t.text(u, t.dirs[e.dir])
	}
	return dir, name, (t.version < 5 || e.dir != 0) && !srcmap.IsAbs(dir), true
}

// text returns a name of the file tables.
func (t *LineTable) text(u *Unit, v Value) string {
	var b []byte
	if v.Kind == Inline {
		b, _ = CString(t.data, v.U)
	} else {
		b, _ = u.Text(v)
	}
	return string(b)
}

// FileSize returns the size in bytes of a file of the line table, or 0 if it is unknown.
func (t *LineTable) FileSize(file uint64) uint64 { return t.files[file].size }

// MD5 returns the digest of a file of the line table in hexadecimal, or "" if
// there is none.
func (t *LineTable) MD5(file uint64) string {
	at := t.files[file].md5
	if at == 0 || len(t.data)-at < md5.Size {
		return ""
	}
	return hex.EncodeToString(t.data[at : at+md5.Size])
}
