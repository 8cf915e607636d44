package dwarf2sym

// A line of a file that the line table does not have is left out, as Breakpad's dump_syms does it: the record could only
// say that the line is somewhere. A call keeps its INLINE with a file named ??, as its function would be lost with it.

// unknownFile is the name of a file that is unknown, as addr2line prints it.
const unknownFile = "??"

// lostFiles are what a unit lacks of files: the first line and call whose file its line table does not have, and the
// first file whose directory it does not have.
type lostFiles struct{ rows, calls, dir error }

// fileID returns the number of an entry of the unit's file table. It reports false if there is no such file.
func (w *worker) fileID(file uint64) (id uint32, ok bool) {
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
	id = w.files.InternString(w.mapFile(name, file))
	for uint64(len(w.fileIDs)) < uint64(w.lines.NumFiles()) {
		w.fileIDs = append(w.fileIDs, 0)
	}
	w.fileIDs[file] = id + 1
	return id, true
}

// noFile returns the number of the file that stands for unknown ones.
func (w *worker) noFile() uint32 { return w.files.InternString(unknownFile) }

// noCallFile is the DW_AT_call_file of a call without it.
const noCallFile = ^uint64(0)

// callFile returns the file of a call. Before DWARF 5, file 0 is none.
func (w *worker) callFile(file uint64) uint32 {
	id, ok := w.fileID(file)
	if !ok && file != noCallFile && file > 0 {
		w.loseFile(file, func(l *lostFiles) *error { return &l.calls })
	}
	return id
}

// loseFile records a reference to a file that the line table does not have, unless one of the kind was recorded.
func (w *worker) loseFile(file uint64, kind func(l *lostFiles) *error) {
	if w.Exhausted || w.lines.NumFiles() == 0 || w.lost != nil && *kind(w.lost) != nil {
		return // the reason why there is no table was reported, or the unit has none
	}
	w.lose(kind, w.lines.FileFault(w.lineUnit(), file))
}

func (w *worker) lose(kind func(l *lostFiles) *error, why error) {
	if w.lost == nil {
		w.lost = &lostFiles{}
	}
	if at := kind(w.lost); *at == nil {
		*at = why
	}
}

// reportFiles reports the files that the unit refers to and its line table does not have.
func (w *worker) reportFiles() {
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
