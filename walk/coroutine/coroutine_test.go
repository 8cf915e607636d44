package coroutine

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
)

func TestRoleOf(t *testing.T) {
	for _, c := range []struct {
		function string
		role     Role
		of       string
	}{
		{"leaf(leaf(int)::_Z4leafi.Frame*) [clone .actor]", Resumes, "leaf(leaf(int)::_Z4leafi.Frame*)"},
		{"_Z4leafPZ4leafiE14_Z4leafi.Frame.destroy", Destroys, "_Z4leafPZ4leafiE14_Z4leafi.Frame"},
		{"leaf(int) [clone .resume]", Resumes, "leaf(int)"},
		{"_Z4leafi.cleanup", Destroys, "_Z4leafi"},
		{"leaf(leaf(int)::_Z4leafi.Frame*) [clone .actor] [clone .cold]", NoRole, ""},
		{"operator[resume]", NoRole, ""},
		{"resume", NoRole, ""},
		{"a.b[x.resume]", NoRole, ""},
	} {
		if role, of := RoleOf(c.function); role != c.role || of != c.of {
			t.Errorf("%s: %d %q, want %d %q", c.function, role, of, c.role, c.of)
		}
	}
}

// The functions of two coroutines, in a module at base; data are at heap.
const (
	base      = 0x400000
	heap      = 0x10000
	resumeA   = base + 0x100
	destroyA  = base + 0x200
	resumeB   = base + 0x300
	destroyB  = base + 0x400
	otherCode = base + 0x500
)

func function(addr uint64) (Role, Function) {
	switch addr {
	case resumeA:
		return Resumes, Function{0, "a"}
	case destroyA:
		return Destroys, Function{0, "a"}
	case resumeB:
		return Resumes, Function{0, "b"}
	case destroyB:
		return Destroys, Function{0, "b"}
	}
	return NoRole, Function{}
}

func process(a *arch.Arch, at uint64, words ...uint64) *dump.Dump {
	var data []byte
	for _, w := range words {
		if a.PtrSize == 4 {
			data = binary.LittleEndian.AppendUint32(data, uint32(w))
		} else {
			data = binary.LittleEndian.AppendUint64(data, w)
		}
	}
	return &dump.Dump{
		Arch: a, Memory: dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: at, Data: data}}),
		Modules: []dump.Module{{Range: dump.Range{Addr: base, Size: 0x1000}}},
	}
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    uint64
		words []uint64
		want  []uint64 // relative to at, in words
	}{
		{"two coroutines", heap, []uint64{0, resumeA, destroyA, 7, resumeB, destroyB}, []uint64{1, 4}},
		{"functions of different coroutines", heap, []uint64{resumeA, destroyB}, nil},
		{"the wrong order", heap, []uint64{destroyA, resumeA, 0}, nil},
		{"another function", heap, []uint64{otherCode, destroyA}, nil},
		{"one that has finished", heap, []uint64{1, 0, destroyA}, []uint64{1}},
		{"a constant of the module", base + 0x800, []uint64{resumeA, destroyA}, nil},
		{"the end of the memory", heap, []uint64{resumeA}, nil},
		{"no memory", heap, nil, nil},
	} {
		for _, a := range []*arch.Arch{arch.X86_64, arch.X86} {
			var got []uint64
			for _, f := range Scan(process(a, c.at, c.words...), function) {
				got = append(got, (f.Addr-c.at)/uint64(a.PtrSize))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %s: frames at %d, want %d", a.Name, c.name, got, c.want)
			}
		}
	}
}

// A million frames that are not real cost one look at each of their functions.
func TestScanMany(t *testing.T) {
	words := make([]uint64, 2_000_000)
	for i := range words {
		words[i] = []uint64{resumeA, destroyA}[i%2]
	}
	asked := 0
	const above = 1 << 32
	frames := Scan(process(arch.X86_64, above, words...), func(addr uint64) (Role, Function) {
		asked++
		return function(addr)
	})
	if len(frames) != len(words)/2 || asked != 2 {
		t.Errorf("%d frames, %d functions looked up", len(frames), asked)
	}
	all := make([]Coroutine, len(frames))
	for i := range all {
		all[i] = Coroutine{Frame: frames[i], Layout: &Layout{Size: 1 << 40, Promise: dump.Range{Addr: 16, Size: 1 << 40}}}
	}
	SetAwaiters(process(arch.X86_64, above, words...), all[:1000])
	for i := range all[:1000] {
		if all[i].Awaiter >= 0 {
			t.Fatalf("coroutine %d has an awaiter", i)
		}
	}
}

// The frames of the cases have the two functions, a promise of two words and a body of two.
func TestSetAwaiters(t *testing.T) {
	const a, b, c = heap, heap + 48, heap + 96
	frame := func(w0, w1, w2, w3 uint64) []uint64 { return []uint64{resumeA, destroyA, w0, w1, w2, w3} }
	for _, tt := range []struct {
		name    string
		frames  [][]uint64
		want    []int
		several int
	}{
		{"a chain", [][]uint64{frame(5, b, 0, 0), frame(5, c, a, 0), frame(0, 0, b, 0)}, []int{1, 2, -1}, 0},
		{"itself", [][]uint64{frame(a, 0, 0, 0)}, []int{-1}, 0},
		{"a circle", [][]uint64{frame(b, 0, b, 0), frame(a, 0, a, 0)}, []int{1, 0}, 0},
		{"the promise has the one that is waited for", [][]uint64{frame(b, 0, b, 0), frame(a, 0, 0, 0)}, []int{-1, 0}, 0},
		{"two handles", [][]uint64{frame(b, c, 0, 0), frame(0, 0, a, 0), frame(0, 0, a, 0)}, []int{-1, -1, -1}, 1},
		{"an address outside of the promise", [][]uint64{frame(0, 0, b, 0), frame(0, 0, 0, 0)}, []int{-1, -1}, 0},
		{"one that has finished", [][]uint64{frame(b, 0, 0, 0), {0, destroyA, 0, 0, a, 0}}, []int{-1, -1}, 0},
	} {
		d := process(arch.X86_64, heap, slices.Concat(tt.frames...)...)
		var all []Coroutine
		for _, f := range Scan(d, function) {
			all = append(all, Coroutine{Frame: f, Layout: &Layout{Size: 48, Promise: dump.Range{Addr: 16, Size: 16}}})
		}
		SetAwaiters(d, all)
		var got []int
		several := 0
		for i := range all {
			got = append(got, all[i].Awaiter)
			if all[i].Several {
				several++
			}
		}
		if !slices.Equal(got, tt.want) || several != tt.several {
			t.Errorf("%s: %d, %d with several; want %d, %d", tt.name, got, several, tt.want, tt.several)
		}
	}
}

func TestLayoutOf(t *testing.T) {
	const number, promise, frame, pointer = 1, 2, 3, 4
	info := func(first, index string) *vars.Info {
		members := []vars.Member{{Name: first}, {Name: "destroy", Offset: 8}, {Name: index, Type: number, Offset: 40}, {Name: "promise", Type: promise, Offset: 16}}
		in := &vars.Info{
			Types: []vars.Type{{}, {Kind: vars.Base, Size: 2, HasSize: true}, {Kind: vars.Struct, Size: 24, HasSize: true},
				{Kind: vars.Struct, Size: 48, HasSize: true, Members: members}, {Kind: vars.Pointer, Elem: frame}},
			Vars: []vars.Variable{{}, {Name: "frame_ptr", Type: pointer}}, Groups: [][]vars.VarID{{}, {1}},
		}
		var b vars.Builder
		b.Reset(0x100)
		b.Func(1)
		b.Location(&vars.Location{})
		b.End()
		in.Funcs = []vars.Func{{RVA: 0x100, Size: 0x10, Body: b.Finish()}}
		return in
	}
	for _, c := range []struct {
		first, index string
		want         Layout
		ok           bool
	}{
		{"_Coro_resume_fn", "_Coro_resume_index", Layout{Size: 48, Promise: dump.Range{Addr: 16, Size: 24}, Index: dump.Range{Addr: 40, Size: 2}, IndexStep: 2}, true},
		{"__resume_fn", "__coro_index", Layout{Size: 48, Promise: dump.Range{Addr: 16, Size: 24}, Index: dump.Range{Addr: 40, Size: 2}, IndexStep: 1}, true},
		{"__resume_fn", "other", Layout{Size: 48, Promise: dump.Range{Addr: 16, Size: 24}, IndexStep: 1}, true},
		{"other", "__coro_index", Layout{}, false},
	} {
		in := info(c.first, c.index)
		if got, ok := LayoutOf(in, in.Func(0x100), 8); got != c.want || ok != c.ok {
			t.Errorf("%s %s: %+v %v, want %+v", c.first, c.index, got, ok, c.want)
		}
	}
	if _, ok := LayoutOf(info("__resume_fn", ""), nil, 8); ok {
		t.Error("a function without variables has a layout")
	}
}
