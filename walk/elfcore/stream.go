package elfcore

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// StreamOptions configure ReadStream.
type StreamOptions struct {
	Options
	// Spill, if non-nil, is a new file for up to 256 MiB of writable memory that may be needed
	// after it has passed.
	Spill interface {
		io.ReaderAt
		io.WriterAt
	}
}

const (
	maxHead  = 256 << 20 // headers and notes: 32,768 threads have about 100 MB
	maxSpill = 256 << 20
)

// SeekError is the error for a core that ReadStream cannot read, because the description of the
// memory comes after the memory. gdb writes such cores for some remote processes, and the kernel
// for processes with more than 65,534 mappings.
type SeekError struct {
	Err  error
	Rest io.Reader // reads the whole core, once
}

func (e *SeekError) Error() string { return e.Err.Error() + ": reading it needs random access" }
func (e *SeekError) Unwrap() error { return e.Err }

// ReadStream reads a core that can be read only once, such as the core that the kernel writes to
// the program named by core_pattern. The notes come first, and say which memory is worth keeping as
// it passes: stacks, the pages that registers point to, headers of binaries, the list of the
// dynamic linker. The Dump contains only that, at most 128 MiB, whatever the size of the core.
func ReadStream(in io.Reader, path string, o StreamOptions) (*dump.Dump, error) {
	s := &stream{in: bufio.NewReaderSize(in, 1<<20), spill: spill{file: o.Spill, room: maxSpill}}
	head, err := s.head(path)
	if err != nil {
		return nil, err
	}
	r, err := newReader(head, path, o.Options)
	if err != nil {
		return nil, err
	}
	r.chosen = true
	r.readNotes()
	if r.kernel != nil {
		err := &damage.Error{File: path, Msg: "a dump of the kernel, whose page tables may be anywhere"}
		return nil, &SeekError{err, io.MultiReader(bytes.NewReader(head), s.in)}
	}
	loads := slices.Collect(r.loadSegments())
	slices.SortStableFunc(loads, func(a, b elfobj.Segment) int { return cmp.Compare(a.Offset, b.Offset) })
	var ranges []dump.Range
	for _, p := range loads {
		if n := min(p.FileSize, p.MemSize); n > 0 {
			ranges = append(ranges, dump.Range{Addr: p.Addr, Size: n})
		}
	}
	s.k = newKeeper(r, ranges)
	s.k.old = s.spill.read
	if err := s.readLoads(loads); err != nil {
		return nil, &damage.Error{File: path, Err: err}
	}
	s.k.lateAll()
	if s.k.room == 0 {
		r.problem("memory", 0, "more than %d bytes are worth keeping", maxKept)
	}
	return r.finish(s.k.memory()), nil
}

// stream is a core that is read from front to back.
type stream struct {
	in    *bufio.Reader
	pos   uint64 // offset in the core
	k     *keeper
	spill spill
}

// head reads the headers and the notes, up to the first memory.
func (s *stream) head(path string) ([]byte, error) {
	damaged := func(format string, args ...any) error {
		return &damage.Error{File: path, Msg: fmt.Sprintf(format, args...)}
	}
	start, _ := s.in.Peek(64)
	if !Sniff(start) || len(start) < 64 {
		return nil, damaged("not a core dump")
	}
	word, order := 8, binary.ByteOrder(binary.LittleEndian)
	if elf.Class(start[elf.EI_CLASS]) == elf.ELFCLASS32 {
		word = 4
	}
	if elf.Data(start[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	// Offsets of the fields of the header and of program headers (gABI chapters 4 and 5).
	phoff, _ := uintAt(start, 24+word, word, order)
	shoff := 24 + 2*word
	tail := start[24+3*word:]
	size, count := uint64(order.Uint16(tail[6:])), uint64(order.Uint16(tail[8:]))
	offset, fileSize, least := 4, 16, uint64(32) // in a program header
	if word == 8 {
		offset, fileSize, least = 8, 32, 56
	}
	switch {
	case count == 0xffff:
		return nil, &SeekError{damaged("65,535 segments or more, whose number is at the core's end"), s.in}
	case size < least || phoff > maxHead:
		return nil, damaged("program headers of %d bytes at %#x", size, phoff)
	}
	headers := max(phoff+size*count, uint64(len(start))) // there may be no program headers
	head, err := s.take(nil, headers)
	if err != nil {
		return nil, damaged("%d bytes, want %d of headers (truncated?)", len(head), headers)
	}
	seen := slices.Clone(head)
	clear(head[shoff : shoff+word]) // sections come last
	clear(head[24+3*word+10:][:6])
	end := uint64(len(head))
	first := ^uint64(0)
	for i := range count {
		p := head[phoff+i*size:]
		off, _ := uintAt(p, offset, word, order)
		n, _ := uintAt(p, fileSize, word, order)
		switch elf.ProgType(order.Uint32(p)) {
		case elf.PT_NOTE:
			end = max(end, off+min(n, maxHead))
		case elf.PT_LOAD:
			if n > 0 {
				first = min(first, off)
			}
		}
	}
	if end > first || end > maxHead {
		err := damaged("notes up to %#x, after %#x, where the memory begins", end, min(first, maxHead))
		return nil, &SeekError{err, io.MultiReader(bytes.NewReader(seen), s.in)}
	}
	head, err = s.take(head, end)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, &damage.Error{File: path, Err: err}
	}
	return head, nil
}

// take reads until head has size bytes. Its memory grows only with the bytes that are read.
func (s *stream) take(head []byte, size uint64) ([]byte, error) {
	for uint64(len(head)) < size {
		n := min(size-uint64(len(head)), 1<<20)
		head = slices.Grow(head, int(n))
		k, err := io.ReadFull(s.in, head[len(head):len(head)+int(n)])
		head, s.pos = head[:len(head)+k], s.pos+uint64(k)
		if err != nil {
			return head, err
		}
	}
	return head, nil
}

// readLoads reads the memory. It leaves out a segment whose bytes have already passed, as part of
// another.
func (s *stream) readLoads(loads []elfobj.Segment) error {
	var total, lost uint64
	for _, p := range loads {
		size := min(p.FileSize, p.MemSize)
		if size == 0 || p.Offset < s.pos {
			continue
		}
		total += size
		at := p.Addr
		end, err := s.readLoad(p, &at)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			lost += end - at
			continue // the segments that follow are lost, too
		}
		if err != nil {
			return err
		}
	}
	if lost > 0 {
		s.k.r.problem(fmt.Sprintf("%d bytes of memory", lost), s.pos, "the core ends before %d of %d bytes of memory (truncated?)", lost, total)
	}
	_, err := io.Copy(io.Discard, s.in) // the writer must neither wait nor fail
	return err
}

// readLoad reads a segment; at is the address up to which it was read.
func (s *stream) readLoad(p elfobj.Segment, at *uint64) (end uint64, err error) {
	end = p.Addr + min(p.FileSize, p.MemSize)
	spills := p.Flags&elf.PF_W != 0
	if _, err := s.copy(io.Discard, p.Offset-s.pos); err != nil {
		return end, err
	}
	if magic, _ := s.in.Peek(len(elf.ELFMAG)); isImage(magic) {
		base := p.Addr
		s.k.want(base, min(end-base, headPage), func(data []byte) { s.k.head(base, data) })
	}
	for len(s.k.wants) > 0 && s.k.wants[0].Addr < end {
		w := heap.Pop(&s.k.wants).(want)
		stop, passed := min(w.Addr+w.Size, end), w.Addr < *at
		if start := max(w.Addr, *at); start < stop {
			if err := s.pass(at, start, spills); err != nil {
				return end, err
			}
			var b bytes.Buffer
			n, err := s.copy(&b, stop-start)
			s.k.keep(start, b.Bytes())
			if *at += n; err != nil {
				return end, err
			}
		}
		if rest := w.Addr + w.Size - stop; rest > 0 && stop == end && w.then == nil {
			s.k.want(end, rest, nil) // the next segment may continue this one
		}
		if w.then != nil || passed {
			s.k.late(w)
		}
	}
	return end, s.pass(at, end, spills)
}

// pass reads up to an address without keeping the memory.
func (s *stream) pass(at *uint64, to uint64, spills bool) error {
	out := io.Discard
	if spills {
		out = s.spill.from(*at)
	}
	n, err := s.copy(out, to-*at)
	*at += n
	return err
}

func (s *stream) copy(to io.Writer, n uint64) (uint64, error) {
	done, err := io.CopyN(to, s.in, int64(min(n, 1<<62)))
	s.pos += uint64(done)
	return uint64(done), err
}

// spill holds memory that has passed, as long as there is room for it.
type spill struct {
	file interface {
		io.ReaderAt
		io.WriterAt
	}
	room  int64
	size  int64
	parts []spilled // by address
}

// spilled is memory in the file.
type spilled struct {
	addr uint64
	off  int64
	size int64
}

// from returns a writer of memory from an address on.
func (s *spill) from(addr uint64) io.Writer {
	s.parts = append(s.parts, spilled{addr: addr, off: s.size})
	return s
}

// Write implements io.Writer. It drops what there is no room for.
func (s *spill) Write(p []byte) (int, error) {
	n := min(int64(len(p)), s.room)
	if s.file == nil || n <= 0 {
		s.room = 0 // later memory would not continue the part
		return len(p), nil
	}
	if _, err := s.file.WriteAt(p[:n], s.size); err != nil {
		return 0, fmt.Errorf("a temporary file for the core: %w", err)
	}
	s.room, s.size = s.room-n, s.size+n
	s.parts[len(s.parts)-1].size += n
	return len(p), nil
}

// read implements keeper.old.
func (s *spill) read(addr uint64, b []byte) int {
	i := sort.Search(len(s.parts), func(i int) bool { return s.parts[i].addr > addr }) - 1
	if i < 0 || addr-s.parts[i].addr >= uint64(s.parts[i].size) {
		return 0
	}
	p := s.parts[i]
	skip := int64(addr - p.addr)
	n, _ := s.file.ReadAt(b[:min(int64(len(b)), p.size-skip)], p.off+skip)
	return n
}
