package goroutine

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// The types of a runtime whose structures have their members in an unusual order.
const (
	tWord vars.TypeID = 1 + iota
	tHalf
	tByte
	tBytes
	tString
	tReasons
	tStack
	tGobuf
	tM
	tMs
	tAtomic
	tG
	tGs
	tList
	tSlice
)

const (
	sizeG  = 112
	base   = 0x400000
	heap   = 0xc000000000
	ptrs   = heap + 0x1000 // the elements of allgs
	texts  = base + 0x100
	atM    = heap + 0x2000
	ofAll  = 0x10 // from base
	ofM    = 0x28
	ofText = 0x40
)

func structure(name string, size uint64, members ...vars.Member) vars.Type {
	return vars.Type{Kind: vars.Struct, Name: name, Size: size, HasSize: true, Members: members}
}

func member(name string, t vars.TypeID, offset uint64) vars.Member {
	return vars.Member{Name: name, Type: t, Offset: offset}
}

func number(size uint64) vars.Type {
	return vars.Type{Kind: vars.Base, Encoding: vars.Unsigned, Size: size, HasSize: true}
}

func pointer(to vars.TypeID) vars.Type {
	return vars.Type{Kind: vars.Pointer, Elem: to, Size: 8, HasSize: true}
}

// runtimeInfo returns what the debug information of such a program has.
func runtimeInfo() *vars.Info {
	list := vars.Type{Kind: vars.Array, Elem: tString}
	list.AddParts().Dims = []vars.Dim{{Count: vars.Bound{Kind: vars.ConstBound, Value: 3}}}
	at := func(offset uint64) vars.Expr { return vars.NewExpr([]vars.Op{{Code: vars.OpAddr, U: offset}}) }
	return &vars.Info{
		Types: []vars.Type{{}, number(8), number(4), number(1), pointer(tByte),
			structure("string", 16, member("len", tWord, 8), member("str", tBytes, 0)), list,
			structure("runtime.stack", 16, member("lo", tWord, 0), member("hi", tWord, 8)),
			structure("runtime.gobuf", 24, member("bp", tWord, 0), member("pc", tWord, 8), member("sp", tWord, 16)),
			structure("runtime.m", 40, member("procid", tWord, 8), member("alllink", tMs, 16), member("curg", tGs, 24), member("lockedg", tWord, 32)), pointer(tM),
			structure("atomic.Uint32", 4, member("value", tHalf, 0)),
			structure("runtime.g", sizeG, member("sched", tGobuf, 0), member("goid", tWord, 24), member("atomicstatus", tAtomic, 32),
				member("waitreason", tByte, 36), member("m", tMs, 40), member("startpc", tWord, 48), member("stack", tStack, 56),
				member("syscallpc", tWord, 72), member("syscallsp", tWord, 80), member("syscallbp", tWord, 88), member("lockedm", tWord, 96)),
			pointer(tG), pointer(tGs),
			structure("[]*runtime.g", 24, member("array", tList, 0), member("len", tWord, 8), member("cap", tWord, 16)),
		},
		Vars:  []vars.Variable{{}, {Name: allgs, Type: tSlice}, {Name: reasons, Type: tReasons}, {Name: allm, Type: tMs}},
		Exprs: []vars.Expr{{}, at(ofAll), at(ofText), at(ofM)},
	}
}

// process is the memory of a program.
type process struct {
	program, heap []byte
	d             *dump.Dump
	count         int
}

func newProcess() *process {
	p := &process{program: make([]byte, 0x200), heap: make([]byte, 0x3000)}
	p.word(base+ofAll, ptrs)
	for i, s := range []string{"", "chan receive", "select (no cases)"} {
		p.word(base+ofText+16*uint64(i), texts+32*uint64(i))
		p.word(base+ofText+16*uint64(i)+8, uint64(len(s)))
		copy(p.program[texts-base+32*i:], s)
	}
	p.d = &dump.Dump{Arch: arch.X86_64, Threads: []dump.Thread{{ID: 7}, {ID: 8}}}
	return p
}

// word writes a word.
func (p *process) word(addr, v uint64) {
	b := p.program
	if addr >= heap {
		b, addr = p.heap, addr-heap+base
	}
	binary.LittleEndian.PutUint64(b[addr-base:], v)
}

// add adds a goroutine, and returns its address. The words are keyed by their indices in runtime.g.
func (p *process) add(id, status, reason uint64, words map[uint64]uint64) uint64 {
	at := heap + sizeG*uint64(p.count)
	p.word(ptrs+8*uint64(p.count), at)
	p.count++
	p.word(base+ofAll+8, uint64(p.count))
	p.word(at+24, id)
	p.word(at+32, status|reason<<32)
	for offset, v := range words {
		p.word(at+offset, v)
	}
	return at
}

func (p *process) read(info *vars.Info) ([]Goroutine, error) { return p.readBy(Read, info) }

func (p *process) readBy(read func(*dump.Dump, *eval.Frame) ([]Goroutine, error), info *vars.Info) ([]Goroutine, error) {
	p.d.Memory = dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: base, Data: p.program}, {Addr: heap, Data: p.heap}})
	return read(p.d, &eval.Frame{
		Arch: p.d.Arch, Order: p.d.Memory.Order, Memory: &p.d.Memory, Info: info, Base: base,
		Scopes: []vars.Scope{{Inline: -1, Vars: []vars.Instance{{Var: 1, Expr: 1}, {Var: 2, Expr: 2}, {Var: 3, Expr: 3}}}},
	})
}

// Goroutines have their states, and the registers from which they continue.
func TestRead(t *testing.T) {
	p := newProcess()
	p.word(atM+8, 8)
	p.add(1, 4, 1, map[uint64]uint64{0: 0x30, 8: 0x401000, 16: heap + 0x20, 48: 0x402000, 56: heap, 64: heap + 0x100})
	p.add(2, 6, 0, nil)                                                                    // ended
	p.add(3, 0x1000|2, 1, map[uint64]uint64{40: atM, 8: 0x401100, 16: 0x50})               // running, while its stack is read
	p.add(4, 3, 0, map[uint64]uint64{8: 1, 16: 2, 72: 0x401200, 80: 0x60, 88: 0x70})       // in a system call, without a thread
	p.add(5, 4, 200, map[uint64]uint64{8: 0x401000, 16: 1})                                // for a reason that is not known
	p.add(6, 1, 2, map[uint64]uint64{8: 0x401000, 16: 1, 40: 0xdead0000, 56: 20, 64: 100}) // its thread does not matter
	got, err := p.read(runtimeInfo())
	if err != nil {
		t.Fatal(err)
	}
	var ids []uint64
	var states []string
	for _, g := range got {
		ids, states = append(ids, g.ID), append(states, g.State())
	}
	if want := []string{"chan receive", "running", "syscall", "waiting", "runnable"}; !slices.Equal(ids, []uint64{1, 3, 4, 5, 6}) || !slices.Equal(states, want) {
		t.Errorf("goroutines %d %q, want %q", ids, states, want)
	}
	if g := got[0]; g.Start != 0x402000 || g.Stack != (dump.Range{Addr: heap, Size: 0x100}) || g.Thread != -1 ||
		g.Saved.PC() != 0x401000 || g.Saved.SP() != heap+0x20 {
		t.Errorf("a waiting goroutine is %+v", g)
	}
	if bp, ok := got[0].Saved.Get("$rbp"); !ok || bp != 0x30 {
		t.Errorf("rbp is %#x %v", bp, ok)
	}
	if got[1].Thread != 1 {
		t.Errorf("a running goroutine has thread %d, want 1", got[1].Thread)
	}
	if g := got[2]; g.Thread != -1 || g.Saved.PC() != 0x401200 || g.Saved.SP() != 0x60 {
		t.Errorf("a goroutine in a system call is %+v", g)
	}
}

// Damaged or missing data give an error that says where. What can be read is kept.
func TestReadDamaged(t *testing.T) {
	rename := func(id vars.TypeID, from, to string) func(*process, *vars.Info) {
		return func(_ *process, info *vars.Info) {
			for i := range info.Types[id].Members {
				if m := &info.Types[id].Members[i]; m.Name == from {
					m.Name = to
				}
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(*process, *vars.Info)
		kept   int
		want   string
	}{
		{"no memory", func(p *process, _ *vars.Info) { p.program = nil }, 0, "runtime.allgs: the dump does not have the memory at 0x400010"},
		{"no array", func(p *process, _ *vars.Info) { p.word(base+ofAll, 0x10) }, 0, "2 of 2 goroutines are lost: runtime.allgs[0]: the dump does not have the memory at 0x10"},
		{"too many", func(p *process, _ *vars.Info) { p.word(base+ofAll+8, 1<<62) }, 0, "runtime.allgs has 4611686018427387904 goroutines, but the dump has memory for 113"},
		{"a goroutine elsewhere", func(p *process, _ *vars.Info) { p.word(ptrs, 0x10) }, 1, "1 of 2 goroutines are lost: runtime.allgs[0].goid: the dump does not have the memory at 0x10"},
		{"a thread elsewhere", func(p *process, _ *vars.Info) { p.word(heap+40, 0x10) }, 1, "1 of 2 goroutines are lost: runtime.allgs[0].m.procid: the dump does not have the memory at 0x10"},
		{"a long reason", func(p *process, _ *vars.Info) { p.word(base+ofText+8, 1<<40) }, 2, "what goroutines wait for is lost: runtime.waitReasonStrings[0]: a string of 1099511627776 bytes, want at most 256"},
		{"a reason elsewhere", func(p *process, _ *vars.Info) { p.word(base+ofText+16, 0) }, 2, "what goroutines wait for is lost: runtime.waitReasonStrings[1]: the dump does not have the memory at 0x0"},
		{"other debug information", func(_ *process, info *vars.Info) { info.Vars[1].Name = "x" }, 0, "the debug information has no variable runtime.allgs"},
		{"another slice", rename(tSlice, "len", "n"), 0, `runtime.allgs: type "[]*runtime.g" has no member len`},
		{"another g", rename(tG, "goid", "id"), 0, `2 of 2 goroutines are lost: runtime.allgs[0]: type "runtime.g" has no member goid`},
		{"a number that is none", func(_ *process, info *vars.Info) { info.Types[tG].Members[1].Type = tStack }, 0, `2 of 2 goroutines are lost: runtime.allgs[0].goid: type "runtime.stack" is not a number`},
		{"a pointer that is none", func(_ *process, info *vars.Info) { info.Types[tGs] = number(8) }, 0, "runtime.allgs has 2 goroutines, but the dump has memory for 0"},
		{"a type of itself", func(_ *process, info *vars.Info) { info.Types[tSlice] = vars.Type{Kind: vars.Typedef, Elem: tSlice} }, 0, "runtime.allgs: "},
	} {
		p, info := newProcess(), runtimeInfo()
		p.add(1, 2, 0, nil)
		p.add(2, 4, 1, nil)
		tt.damage(p, info)
		got, err := p.read(info)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) || len(got) != tt.kept {
			t.Errorf("%s: %d goroutines, error %v, want %d and %q", tt.name, len(got), err, tt.kept, tt.want)
		}
	}
	if _, err := newProcess().read(runtimeInfo()); !errors.Is(err, ErrNone) {
		t.Errorf("a program that has not begun: error %v", err)
	}
}
