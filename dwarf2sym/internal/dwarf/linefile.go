package dwarf

import (
	"crypto/md5"
	"encoding/hex"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// Path returns the name of a file of the line table: the entry's name joined
// with its directory, and with the unit's directory if that is relative, too.
// It is otherwise unchanged: "." and ".." stay, and no file is looked up. In
// DWARF 5 (6.2.4) directory 0 is the compilation directory, which is not
// joined with itself: GCC's relative ones would double.
func (t *LineTable) Path(u *Unit, file uint64) (string, bool) {
	if file >= uint64(len(t.files)) {
		return "", false
	}
	e := &t.files[file]
	name := t.text(u, e.name)
	if name == "" || srcmap.IsAbs(name) {
		return name, name != ""
	}
	dir := ""
	if e.dir < uint64(len(t.dirs)) {
		dir = t.text(u, t.dirs[e.dir])
	}
	if (t.version < 5 || e.dir != 0) && !srcmap.IsAbs(dir) {
		dir = srcmap.Join(u.CompDir, dir)
	}
	return srcmap.Join(dir, name), true
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

// MD5 returns the digest of a file of the line table in hexadecimal, or "" if
// there is none.
func (t *LineTable) MD5(file uint64) string {
	at := t.files[file].md5
	if at == 0 || len(t.data)-at < md5.Size {
		return ""
	}
	return hex.EncodeToString(t.data[at : at+md5.Size])
}
