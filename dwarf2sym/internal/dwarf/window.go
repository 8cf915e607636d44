package dwarf

// windowSize is the number of bytes that a window reads at once: enough to
// make system calls rare, and few enough to stay in the cache.
const windowSize = 256 << 10

// Window reads mostly consecutive pieces of a section. A result is valid until the next
// call.
type Window struct {
	src Source
	off uint64 // of data in the section
	buf []byte // storage, if the source needs it
	got []byte // the bytes from off on; if src is in memory, all of it
}

// NewWindow returns a window on src, or nil if src is nil.
func NewWindow(src Source) *Window {
	if src == nil {
		return nil
	}
	w := &Window{src: src}
	if v, ok := src.(interface{ View() []byte }); ok {
		w.got = v.View()
	}
	return w
}

func (w *Window) size() int64 { return w.src.Size() }

// bytes returns n bytes at off, which the section must have.
func (w *Window) bytes(off, n uint64) ([]byte, error) {
	if off < w.off || off+n > w.off+uint64(len(w.got)) {
		size := min(max(n, windowSize), uint64(w.size())-off)
		b, err := w.src.Bytes(int64(off), int64(size), w.buf)
		if err != nil {
			return nil, err
		}
		if uint64(cap(b)) > uint64(cap(w.buf)) {
			w.buf = b[:0]
		}
		w.off, w.got = off, b
	}
	from := off - w.off
	return w.got[from : from+n : from+n], nil
}
