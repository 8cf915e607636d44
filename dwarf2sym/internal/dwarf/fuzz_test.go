package dwarf

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// memory is a Source in memory.
type memory []byte

func (m memory) Size() int64 { return int64(len(m)) }

func (m memory) Bytes(off, n int64, _ []byte) ([]byte, error) {
	if off < 0 || n < 0 || off > int64(len(m)) || n > int64(len(m))-off {
		return nil, fmt.Errorf("%d bytes at %#x of %d", n, off, len(m))
	}
	return m[off : off+n : off+n], nil
}

// fixture is the part of a binary's debug information that is a seed of the targets.
type fixture struct {
	big     bool
	section map[string][]byte
}

func fixtures(f *testing.F) (all []fixture) {
	paths, err := filepath.Glob(filepath.Join(testenv.Input(f), "*.elf"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("%d binaries, %v", len(paths), err)
	}
	for _, path := range paths {
		file, err := elf.Open(path)
		if err != nil {
			continue // 64-bit sections of a 32-bit file, and other things that debug/elf refuses
		}
		x := fixture{file.ByteOrder == binary.ByteOrder(binary.BigEndian), map[string][]byte{}}
		for _, s := range file.Sections {
			if data, err := s.Data(); err == nil && len(data) < 64<<10 {
				x.section[s.Name] = data
			}
		}
		file.Close()
		all = append(all, x)
	}
	return all
}

// Any bytes as a line program give ordered sequences of ordered rows.
func FuzzLines(f *testing.F) {
	for _, x := range fixtures(f) {
		if line := x.section[".debug_line"]; len(line) > 0 {
			f.Add(line, x.section[".debug_line_str"], x.big, uint8(8))
		}
	}
	f.Fuzz(func(t *testing.T, line, lineStr []byte, big bool, addrSize uint8) {
		s := &Sections{Order: Order(big), LineStr: lineStr}
		u := &Unit{Header: Header{Version: 5, AddrSize: []uint8{2, 4, 8}[addrSize%3]}, Order: s.Order, sect: s, CompDir: "/src"}
		u.StmtList = Value{Kind: SecOff}
		var tab LineTable
		_ = tab.Read(u, NewWindow(memory(line))) // undamaged parts are kept
		for i, q := range tab.Seqs {
			if q.Lo >= q.Hi || i > 0 && q.Lo < tab.Seqs[i-1].Lo || q.First >= q.Last || q.Last > len(tab.Rows) {
				t.Fatalf("sequence %d: %+v", i, q)
			}
			for k := q.First; k < q.Last; k++ {
				r := &tab.Rows[k]
				if k > q.First && r.Addr < tab.Rows[k-1].Addr {
					t.Fatalf("sequence %d: %+v behind %+v", i, r, tab.Rows[k-1])
				}
				if name, ok := tab.Path(u, uint64(r.File)); ok && name == "" {
					t.Fatalf("file %d has no name", r.File)
				}
			}
		}
	})
}

// Any bytes as a unit give entries in order, each with its end, and at most one per byte.
func FuzzScanner(f *testing.F) {
	for _, x := range fixtures(f) {
		if info := x.section[".debug_info"]; len(info) > 0 {
			f.Add(info, x.section[".debug_abbrev"], x.section[".debug_str"], x.section[".debug_rnglists"], x.big)
		}
	}
	f.Fuzz(func(t *testing.T, info, abbrev, str, rnglists []byte, big bool) {
		s := &Sections{Order: Order(big), Info: memory(info), Abbrev: abbrev, Str: str, Rnglists: rnglists}
		for off := uint64(0); off < uint64(len(info)); {
			h, _, err := s.ParseHeader(info[off:], off, uint64(len(info)), false)
			if err == nil {
				scanUnit(t, s, &h, info[off:off+h.Size])
			}
			if h.Size == 0 {
				break
			}
			off += h.Size
		}
	})
}

func scanUnit(t *testing.T, s *Sections, h *Header, data []byte) {
	m := &Meter{Effort: &Effort{Limit: 1 << 20}}
	var cache AbbrevCache
	table, _, err := cache.Get(s, h)
	var u Unit
	if err != nil || u.Begin(s, h, data, table, m) != nil {
		return
	}
	var scan Scanner
	scan.Reset(&u, true, false)
	last, open := 0, 0
	var funcs []int // where those with code start
	for {
		e, done, err := scan.Next()
		switch {
		case done:
			if err == nil {
				sameFuncs(t, &u, funcs)
			}
			if err == nil && open > 0 && scan.At() < len(data) {
				t.Fatalf("%d entries have no end", open)
			}
			if err != nil && errors.Is(err, ErrExhausted) != m.Exhausted {
				t.Fatalf("%v, exhausted: %v", err, m.Exhausted)
			}
			return
		case e == nil:
			if open--; open < 0 {
				t.Fatal("an end without an entry")
			}
		default:
			if e.Start < last || e.Start >= len(data) {
				t.Fatalf("entry at %#x behind %#x, of %#x", e.Start, last, len(data))
			}
			last = e.Start + 1
			if e.Class == ClassFunc {
				funcs = append(funcs, e.Start)
			}
			if e.Children {
				open++
			}
			spans, _ := u.Spans(e.Attrs.Low, e.Attrs.High, e.Attrs.Ranges, nil)
			for _, p := range spans {
				if p.Lo >= p.Hi {
					t.Fatalf("empty span %+v", p)
				}
			}
			u.Text(e.Attrs.Name)
		}
	}
}

// sameFuncs fails if a scan without scopes and inlined subroutines does not stop at exactly the functions with
// code.
func sameFuncs(t *testing.T, u *Unit, want []int) {
	t.Helper()
	var scan Scanner
	scan.Reset(u, false, false)
	scan.Inlines(false)
	var got []int
	for {
		switch e, done, err := scan.Next(); {
		case done:
			if err == nil && !slices.Equal(got, want) {
				t.Fatalf("stops at %#x, functions with code are at %#x", got, want)
			}
			return
		case e != nil:
			got = append(got, e.Start)
		}
	}
}
