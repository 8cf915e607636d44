package funcs

import "github.com/symtool/symtool/symfmt/srcmap"

// Lines whose file is not in the line table are left out, as Breakpad's dump_syms does: the record could only say that
// the line is somewhere. A call keeps its INLINE, with a file named ??, as its function would otherwise be lost.

// unknownFile is the name of an unknown file, as addr2line prints it.
const unknownFile = "??"

// lostFiles holds what is missing from a unit's files: the first row and the first call whose file is not in the line
// table, and the first file whose directory is not.
type lostFiles struct{ rows, calls, dir error }

// fileID returns the number of an entry of the unit's file table. It reports false if there is no such file.
func (w *Worker) fileID(file uint64) (id uint32, ok bool) {
	if file < uint64(len(w.fileIDs)) && w.fileIDs[file] != 0 {
		return w.fileIDs[file] - 1, true
	}
	if w.Exhausted {
		return w.noFile(), false
	}
	name, ok := w.lines.Path(w.lineUnit(), file)
	if !ok || !w.Spend(uint64(len(name))) {
		return w.noFile(), false
	}
	if err := w.lines.FileFault(w.lineUnit(), file); err != nil {
		w.lose(func(l *lostFiles) *error { return &l.dir }, err)
	}
	id = w.Files.InternString(w.mapFile(name, file))
	for uint64(len(w.fileIDs)) < uint64(w.lines.NumFiles()) {
		w.fileIDs = append(w.fileIDs, 0)
	}
	w.fileIDs[file] = id + 1
	return id, true
}

// noFile returns the number of the file that stands for all unknown ones.
func (w *Worker) noFile() uint32 { return w.Files.InternString(unknownFile) }

// noCallFile stands for the missing DW_AT_call_file of a call.
const noCallFile = ^uint64(0)

// callFile returns the file of a call. Before DWARF 5, file 0 means no file.
func (w *Worker) callFile(file uint64) uint32 {
	id, ok := w.fileID(file)
	if !ok && file != noCallFile && file > 0 {
		w.loseFile(file, func(l *lostFiles) *error { return &l.calls })
	}
	return id
}

// loseFile records a reference to a file that is not in the line table, unless one of that kind is already recorded.
func (w *Worker) loseFile(file uint64, kind func(l *lostFiles) *error) {
	if w.Exhausted || w.lines.NumFiles() == 0 || w.lost != nil && *kind(w.lost) != nil {
		return // the missing table was reported, or the unit has none
	}
	w.lose(kind, w.lines.FileFault(w.lineUnit(), file))
}

func (w *Worker) lose(kind func(l *lostFiles) *error, why error) {
	if w.lost == nil {
		w.lost = &lostFiles{}
	}
	if at := kind(w.lost); *at == nil {
		*at = why
	}
}

// reportFiles reports the files that the unit refers to but its line table lacks.
func (w *Worker) reportFiles() {
	l := w.lost
	if w.lost = nil; l == nil {
		return
	}
	if l.rows != nil {
		w.problem(w.u.Off, "lines of an unknown file of "+w.u.OwnName(), l.rows)
	}
	if l.calls != nil {
		w.problem(w.u.Off, "the files of calls of "+w.u.OwnName(), l.calls)
	}
	if l.dir != nil {
		w.problem(w.u.Off, "the directory of a file of "+w.u.OwnName(), l.dir)
	}
}

// mapFile returns the name that the symbol file gives to a file of the line table.
func (w *Worker) mapFile(path string, file uint64) string {
	if w.opts.Mapping == nil {
		return srcmap.ReplacePrefix(w.opts.PrefixMap, path)
	}
	f := w.opts.Mapping.Map(w.opts.PrefixMap, path, w.lines.MD5(file))
	if f.File != "" || f.Err != nil {
		if w.Mapped == nil {
			w.Mapped = map[*srcmap.File]bool{}
		}
		w.Mapped[f] = true
	}
	return f.Name
}
