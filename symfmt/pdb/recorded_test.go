package pdb

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/symfmt"
)

// recorded compares a module with what another program wrote for the same PDB.
type recorded struct {
	t         *testing.T
	file      string
	got, want *symfmt.Module
	decorated map[symfmt.RVA][]string // public symbols
	reasons   map[string]int
	view      *llvmView // the records
	places    func(symfmt.RVA) []place
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

var arrayLength = regexp.MustCompile(`\[\d+\]`)

// names compares the names of a function.
func (r *recorded) names(got, want string, public []string) {
	g, w := spelled(got), spelled(strings.ReplaceAll(want, "<NoType>", "..."))
	changed := func(re *regexp.Regexp, by string) bool {
		g, w = re.ReplaceAllString(g, by), re.ReplaceAllString(w, by)
		return g == w
	}
	raw, _, _ := strings.Cut(want, "(")
	plain, err := demangle.Append(nil, strings.TrimSuffix(want, "()"))
	switch {
	case g == w:
		r.differ("the same name", "")
	case err == nil && string(plain) == got:
		r.differ("a record with a decorated name, which is as it is there", "")
	case strings.HasPrefix(raw, "@") && isWithParams(g, spelled(strings.TrimLeft(raw[:max(strings.LastIndexByte(raw, '@'), 1)], "@"))):
		r.differ("a function of fastcall, decorated there", "")
	case changed(regexp.MustCompile("const"), ""):
		r.differ("const stands before a type there, and behind it here, as demanglers have it", "")
	case changed(regexp.MustCompile("volatile"), ""):
		r.differ("volatile, which is left out there", "")
	case changed(arrayLength, "[]"):
		r.differ("an array without its length here", "")
	case strings.ReplaceAll(w, "uint64_t", "unsignedlonglong") == g:
		r.differ("unsigned long long, which is uint64_t there", "")
	case changed(regexp.MustCompile(`std::nullptr_t|void\*`), ""):
		r.differ("std::nullptr_t, which is void const* there", "")
	default:
		r.differ("", "%s, want %s; %q", got, want, public)
	}
}

// bodies compares the names, the inlined calls and the lines of functions at each address where a line or a
// call begins.
func (r *recorded) bodies() {
	theirs := map[symfmt.RVA]*symfmt.Func{}
	for i := range r.want.Funcs {
		theirs[r.want.Funcs[i].RVA] = &r.want.Funcs[i]
	}
	for i := range r.got.Funcs {
		f := &r.got.Funcs[i]
		w := theirs[f.RVA]
		if w == nil {
			continue
		}
		r.names(f.Name, w.Name, r.decorated[f.RVA])
		starts := map[symfmt.RVA]bool{}
		for _, body := range []*symfmt.Func{f, w} {
			for l := range body.Lines() {
				starts[l.RVA] = true
			}
			for in := range body.Inlines() {
				for _, x := range in.Ranges {
					starts[x.RVA] = true
				}
			}
		}
		for at := range starts {
			g, o := framesAt(r.got, at), framesAt(r.want, at)
			here := func(x place) bool { return r.view.isHere(x, at, g) }
			switch {
			case slices.Equal(g, o):
				r.differ("the same frames", "")
			case slices.ContainsFunc(r.places(at), func(x place) bool { return r.view.steps(x, at) }) && len(g) == 1:
				r.differ("a number that is not a line but says how to step: no line here, that of the row before there", "")
			case !slices.ContainsFunc(r.places(at), here):
				r.differ("", "%x: %v, want %v: the records have neither", at, g, o)
			case len(g) > 1 && len(g) == len(o) && slices.Equal(g[1:], o[1:]):
				r.differ("a row of an inlined call is missing there: the line is that of a row before; the records have what is here", "")
			case len(o) < len(g) && g[len(g)-1].line == 0:
				r.differ("a call where its caller has no line is missing there; the records have it", "")
			case len(g) == len(o) && slices.EqualFunc(g[1:], o[1:], func(g, o frame) bool { return g.file == o.file && o.line-g.line <= 1 }):
				r.differ("a call in an inlined function is a line further there (strnlen.cpp, 73); the records of that function have "+
					"what is here, where it is inlined and where it is not (72)", "")
			default:
				r.differ("", "%x: %v, want %v", at, g, o)
			}
		}
	}
}

// Functions with their names, inlined calls and lines, public symbols and frames are those of the symbol files
// that Mozilla's dump_syms wrote for the shared PDBs, except for the reasons here. Reordered images are left
// out, because Mozilla's files have the addresses before reordering; TestReordered compares them with
// Breakpad's.
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
		v := newLLVMView(t, data)
		r := recorded{t, filepath.Base(path), read(t, data, path, 0).Module, want, publicsOf(t, d), reasons, v, v.places()}
		if r.got.ID != want.ID || r.got.Arch != want.Arch {
			t.Errorf("%s: MODULE %s %s, want %s %s", path, r.got.Arch, r.got.ID, want.Arch, want.ID)
		}
		r.functions()
		r.publics()
		r.frames()
		r.bodies()
	})
	for why, n := range reasons {
		t.Logf("%6d %s", n, why)
	}
}

// Public symbols in code that are not marked as functions are labels of assembly, unless their name is that
// of data.
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
