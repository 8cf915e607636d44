package dwarf2sym

import (
	"cmp"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/srcmap"
)

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
	if name == "" || srcmap.IsAbs(name) {
		return name, name != ""
	}
	dir := ""
	if e.dir < uint64(len(t.dirs)) {
		dir = t.text(u, t.dirs[e.dir])
	}
	if (t.version < 5 || e.dir != 0) && !srcmap.IsAbs(dir) {
		dir = srcmap.Join(u.compDir, dir)
	}
	return srcmap.Join(dir, name), true
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

// md5 returns the digest of a file of the line table, hexadecimal; "" for none.
func (t *lineTable) md5(file uint64) string {
	at := t.files[file].md5
	if at == 0 || len(t.data)-at < md5.Size {
		return ""
	}
	return hex.EncodeToString(t.data[at : at+md5.Size])
}

// mapFile gives a file of the line table its name in the symbol file.
func (w *worker) mapFile(path string, file uint64) string {
	if w.opts.Mapping == nil {
		return srcmap.ReplacePrefix(w.opts.PrefixMap, path)
	}
	f := w.opts.Mapping.Map(w.opts.PrefixMap, path, w.lines.md5(file))
	if f.File != "" || f.Err != nil {
		if w.mapped == nil {
			w.mapped = map[*srcmap.File]bool{}
		}
		w.mapped[f] = true
	}
	return f.Name
}

// reportMapped reports the files of the module that were read for their names, and
// those that could not be mapped.
func (r *reader) reportMapped() {
	if r.opts.Mapping == nil {
		return
	}
	mapped := map[*srcmap.File]bool{}
	for _, w := range r.workers {
		maps.Copy(mapped, w.mapped)
	}
	named := make(map[string]bool, len(r.module.Files))
	for i := range r.module.Files {
		named[r.module.Files[i].Name] = true
	}
	bad := 0
	all := slices.SortedFunc(maps.Keys(mapped), compareMapped)
	for _, f := range slices.CompactFunc(all, func(a, b *srcmap.File) bool { return compareMapped(a, b) == 0 }) {
		switch {
		case !named[f.Name]:
		case f.Err == nil:
			r.report.Mapped = append(r.report.Mapped, *f)
		default:
			if bad++; bad <= allProblems {
				r.problem(problemMapping, f.Lost(), f.Err)
			}
		}
	}
	if bad > allProblems {
		r.problem(problemMapping, "", &bin.Error{File: r.file.Path, Msg: fmt.Sprintf("%d more files are not mapped", bad-allProblems)})
	}
}

func compareMapped(a, b *srcmap.File) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(a.Err), fmt.Sprint(b.Err)))
}
