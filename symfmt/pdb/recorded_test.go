package pdb

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// recorded compares a module with what another program wrote for the same PDB.
type recorded struct {
	t         *testing.T
	file      string
	got, want *symfmt.Module
	decorated map[symfmt.RVA][]string // public symbols
	reasons   map[string]int
}

func (r *recorded) differ(why, format string, args ...any) {
	r.t.Helper()
	if r.reasons[why]++; why == "" {
		r.t.Errorf(r.file+": "+format, args...)
	}
}

// covering returns the function that covers an address.
func covering(m *symfmt.Module, rva symfmt.RVA) *symfmt.Func {
	for i := range m.Funcs {
		if f := &m.Funcs[i]; f.RVA <= rva && rva < f.RVA+symfmt.RVA(f.Size) {
			return f
		}
	}
	return nil
}

func (r *recorded) functions() {
	theirs := map[symfmt.RVA]*symfmt.Func{}
	for i := range r.want.Funcs {
		theirs[r.want.Funcs[i].RVA] = &r.want.Funcs[i]
	}
	for i := range r.got.Funcs {
		f := &r.got.Funcs[i]
		w := theirs[f.RVA]
		delete(theirs, f.RVA)
		switch fastcall := func(raw string) bool { return raw[0] == '@' }; {
		case w == nil && isThunk(r.want, f.RVA):
			r.differ("a thunk of an import, a FUNC with its size here and a PUBLIC there", "")
		case w == nil && strings.HasPrefix(f.Name, "@ILT+"):
			r.differ("a jump of incremental linking, which has no record there", "")
		case w == nil:
			r.differ("", "FUNC %x %x %s only here", f.RVA, f.Size, f.Name)
		case w.Size != f.Size || w.Multiple != f.Multiple:
			r.differ("", "FUNC %x %x %v, want %x %v", f.RVA, f.Size, f.Multiple, w.Size, w.Multiple)
		case w.ParamSize == f.ParamSize:
			r.differ("the same function", "")
		case slices.ContainsFunc(r.decorated[f.RVA], fastcall) && f.ParamSize == w.ParamSize-min(w.ParamSize, 8):
			r.differ("a function of fastcall: its first 8 bytes of arguments are in registers", "")
		default:
			r.differ("", "FUNC %x has %x bytes of arguments, want %x; %q", f.RVA, f.ParamSize, w.ParamSize, r.decorated[f.RVA])
		}
	}
	for rva, w := range theirs {
		r.differ("", "FUNC %x %x %s is missing", rva, w.Size, w.Name)
	}
}

func (r *recorded) publics() {
	at := func(rva symfmt.RVA) func(symfmt.Public) bool {
		return func(p symfmt.Public) bool { return p.RVA == rva }
	}
	for _, p := range r.got.Publics {
		if !slices.ContainsFunc(r.want.Publics, at(p.RVA)) {
			r.differ("", "PUBLIC %x %s only here", p.RVA, p.Name)
		}
	}
	for _, p := range r.want.Publics {
		switch {
		case slices.ContainsFunc(r.got.Publics, at(p.RVA)):
			r.differ("the same public symbol", "")
		case strings.HasPrefix(p.Name, "<unknown in "):
			r.differ("a PUBLIC that stands for no symbol", "")
		case covering(r.got, p.RVA) != nil:
			r.differ("a label or a thunk, which a FUNC covers here", "")
		default:
			r.differ("", "PUBLIC %x %s is missing", p.RVA, p.Name)
		}
	}
}

func (r *recorded) frames() {
	theirs := map[symfmt.StackWin]bool{}
	for _, w := range r.want.Wins {
		w.Program = strings.TrimSpace(w.Program)
		theirs[w] = true
	}
	for _, w := range r.got.Wins {
		other := w
		other.AllocatesBasePtr = false
		newer := func(o symfmt.StackWin) bool {
			return o.Type == winFrameData && o.RVA < w.RVA+symfmt.RVA(w.CodeSize) && w.RVA < o.RVA+symfmt.RVA(o.CodeSize)
		}
		switch {
		case theirs[w]:
			r.differ("the same STACK WIN", "")
			delete(theirs, w)
		case w.Type == winFPO && theirs[other]:
			r.differ("an old frame that uses ebp: Mozilla's reader takes another bit for that, and DIA has what is here", "")
			delete(theirs, other)
		case w.Type == winFPO && slices.ContainsFunc(r.got.Wins, newer):
			r.differ("an old frame of code that has a newer one, which readers of symbol files prefer: DIA has both", "")
		default:
			r.differ("", "STACK WIN %+v only here", w)
		}
	}
	for w := range theirs {
		r.differ("", "STACK WIN %+v is missing", w)
	}
}

// Functions, public symbols and frames are those of the symbol files that Mozilla's dump_syms wrote for the shared PDBs,
// but for the reasons here. Reordered images are left out, as Mozilla's have the addresses before: TestReordered
// compares these with Breakpad's.
func TestRecorded(t *testing.T) {
	reasons := map[string]int{}
	sharedPDBs(t, ".fpo.txt.gz", func(path string, data, _ []byte) {
		d, err := openDatabase(bytes.NewReader(data), int64(len(data)), path)
		if err != nil {
			t.Fatal(err)
		}
		want := mozillas(t, path)
		if d.opt[optOMAPTo] != noStream || d.opt[optOMAPFrom] != noStream || want.ID == "" {
			return
		}
		r := recorded{t, filepath.Base(path), read(t, data, path, 0).Module, want, publicsOf(t, d), reasons}
		if r.got.ID != want.ID || r.got.Arch != want.Arch {
			t.Errorf("%s: MODULE %s %s, want %s %s", path, r.got.Arch, r.got.ID, want.Arch, want.ID)
		}
		r.functions()
		r.publics()
		r.frames()
	})
	for why, n := range reasons {
		t.Logf("%6d %s", n, why)
	}
}

// Public symbols in code that are not marked as functions are labels of assembly, unless they have the name of data.
func TestLabels(t *testing.T) {
	le := binary.LittleEndian
	var data []byte
	add := func(flags uint32, off uint32, segment uint16, name string) {
		data = le.AppendUint16(le.AppendUint16(data, uint16(13+len(name))), symPublic)
		data = le.AppendUint16(le.AppendUint32(le.AppendUint32(data, flags), off), segment)
		data = append(append(data, name...), 0)
	}
	add(2, 0x10, 1, "_f")
	add(0, 0x20, 1, "_label")
	add(0, 0x30, 1, "??_C@_00CNPNBAHC@@")
	add(0, 0x40, 1, "__real@3ff0000000000000")
	add(0, 0x10, 2, "_data")
	c := &container{r: bytes.NewReader(data), size: int64(len(data)), block: 512, streams: []stream{{size: int64(len(data)), blocks: []uint32{0}}}}
	d := &database{container: c, parts: []section{{rva: 0x1000, size: 0x100, exec: true}, {rva: 0x2000, size: 0x100}}}
	m := &merger{d: d, o: &Options{}, out: symfmt.Module{Arch: "x86", Funcs: []symfmt.Func{{RVA: 0x1010, Size: 8, Name: "f"}}}}
	if err := m.publics(); err != nil {
		t.Fatal(err)
	}
	if got := m.out.Publics; len(got) != 1 || got[0].RVA != 0x1020 || got[0].Name != "label" {
		t.Errorf("%+v, want label at 0x1020 alone", got)
	}
}
