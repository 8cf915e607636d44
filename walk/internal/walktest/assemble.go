// Package walktest has what the tests of walk's packages share: dumps that are assembled word by
// word, crashes from the shared data with their symbols, and gdb's backtraces. It does not import
// the walker, whose own tests use it.
package walktest

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Assembler builds the dump of a process word by word, so that a test shows the stack itself:
//
//	a := Assemble(t, arch.X86, dump.Linux)
//	a.Module("app", 0x400000, 0x1000, "FUNC 100 10 0 f\n")
//	a.At(0x8000_0000).Word(junk).Mark("fp").Word("fp2").Word(0x400105)
//	a.Mark("fp2").Word(0).Word(0)
//	a.Regs("$eip", 0x400101, "$esp", "fp", "$ebp", "fp")
//	d := a.Build()
//
// A value is a number or the name of a label, which may be marked later.
type Assembler struct {
	T       testing.TB
	Arch    *arch.Arch
	Dump    *dump.Dump
	Regions []*asmRegion
	Labels  map[string]uint64
	Threads [][]any
	Modules []dump.Module
	Crash   []any
	Files   map[string]string // symbol files, by the module's debug file
	errs    map[string]error  // errors for symbol files that cannot be used
	order   asmOrder
}

// asmOrder is implemented by both byte orders.
type asmOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// asmRegion is a piece of memory. Values are filled in once all labels are known.
type asmRegion struct {
	addr, size uint64
	Parts      []AsmPart
}

// AsmPart is a value in memory.
type AsmPart struct {
	Value any // a number, the name of a label, or []byte
	plus  uint64
	Size  int // of a word
}

// Assemble begins a dump.
func Assemble(t testing.TB, a *arch.Arch, os dump.OS) *Assembler {
	t.Helper()
	var order asmOrder = binary.LittleEndian
	switch a {
	case arch.PPC, arch.PPC64, arch.S390X, arch.MIPS, arch.MIPS64:
		order = binary.BigEndian
	}
	return &Assembler{
		T: t, Arch: a, order: order, Labels: map[string]uint64{}, Files: map[string]string{}, errs: map[string]error{},
		Dump: &dump.Dump{Format: "assembled", Order: order, Arch: a, System: dump.System{OS: os}, Main: -1},
	}
}

// Module adds a module. Its symbols are the given records, without MODULE; a
// module without records has no symbols.
func (a *Assembler) Module(name string, addr, size uint64, symbols string) *Assembler {
	id := fmt.Sprintf("%032X1", addr)
	a.Modules = append(a.Modules, dump.Module{Range: dump.Range{Addr: addr, Size: size}, Path: name, DebugFile: name, DebugPath: name, DebugID: id})
	if symbols != "" {
		a.Files[name] = fmt.Sprintf("MODULE %s %s %s %s\n%s", a.system(), a.Arch.Name, id, name, symbols)
	}
	return a
}

func (a *Assembler) system() string {
	if a.Dump.System.OS == dump.Windows {
		return "windows"
	}
	return a.Dump.System.OS.String()
}

// At begins a piece of memory.
func (a *Assembler) At(addr uint64) *Assembler {
	a.Regions = append(a.Regions, &asmRegion{addr: addr})
	return a
}

func (a *Assembler) region() *asmRegion { return a.Regions[len(a.Regions)-1] }

// Mark sets a label at the current address.
func (a *Assembler) Mark(label string) *Assembler {
	a.T.Helper()
	if _, twice := a.Labels[label]; twice {
		a.T.Fatalf("label %s twice", label)
	}
	a.Labels[label] = a.region().addr + a.region().size
	return a
}

// Words adds words of the CPU's size.
func (a *Assembler) Words(values ...any) *Assembler {
	for _, v := range values {
		a.Add(AsmPart{Value: v, Size: a.Arch.PtrSize})
	}
	return a
}

// Word adds a word.
func (a *Assembler) Word(value any) *Assembler { return a.Words(value) }

// WordPlus adds a word with the sum of a value and a number.
func (a *Assembler) WordPlus(value any, plus int64) *Assembler {
	return a.Add(AsmPart{Value: value, plus: uint64(plus), Size: a.Arch.PtrSize})
}

// Zeros adds n words that are 0.
func (a *Assembler) Zeros(n int) *Assembler { return a.Bytes(make([]byte, n*a.Arch.PtrSize)...) }

// Bytes adds bytes as they are.
func (a *Assembler) Bytes(b ...byte) *Assembler { return a.Add(AsmPart{Value: b, Size: len(b)}) }

func (a *Assembler) Add(p AsmPart) *Assembler {
	r := a.region()
	r.Parts = append(r.Parts, p)
	r.size += uint64(p.Size)
	return a
}

// Regs adds a thread with the given registers, alternating names and values.
// Other registers are unknown.
func (a *Assembler) Regs(namesAndValues ...any) *Assembler {
	a.Threads = append(a.Threads, namesAndValues)
	return a
}

// Crashed makes the last thread the one that crashed.
func (a *Assembler) Crashed(c dump.Crash, namesAndValues ...any) *Assembler {
	c.Thread = uint32(len(a.Threads))
	a.Dump.Crash, a.Crash = &c, namesAndValues
	return a
}

// value returns the number that a value stands for.
func (a *Assembler) value(v any) uint64 {
	a.T.Helper()
	switch v := v.(type) {
	case string:
		n, ok := a.Labels[v]
		if !ok {
			a.T.Fatalf("no label %s", v)
		}
		return n
	case int:
		return uint64(v)
	case int64:
		return uint64(v)
	case uint64:
		return v
	case uint32:
		return uint64(v)
	}
	a.T.Fatalf("a value of type %T", v)
	return 0
}

func (a *Assembler) context(namesAndValues []any) *dump.Context {
	a.T.Helper()
	c := dump.NewContext(a.Arch)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		name := namesAndValues[i].(string)
		if _, ok := a.Arch.RegIndex(name); !ok {
			a.T.Fatalf("no register %s", name)
		}
		c.Set(name, a.value(namesAndValues[i+1]))
	}
	return c
}

// Build returns the dump. Threads have the ids 1, 2, and so on.
func (a *Assembler) Build() *dump.Dump {
	a.T.Helper()
	d := a.Dump
	d.SetModules(a.Modules, 0)
	var regions []dump.Region
	d.Size = 0
	for _, r := range a.Regions {
		regions = append(regions, dump.Region{Addr: r.addr, Data: a.encode(r)})
		d.Size += int64(r.size)
	}
	d.Memory = dump.NewMemory(a.order, regions)
	d.Threads = nil
	for i, values := range a.Threads {
		t := dump.Thread{ID: uint32(i + 1), Context: a.context(values)}
		if r := d.Memory.Find(t.Context.SP()); r != nil {
			t.Stack = dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))}
		}
		d.Threads = append(d.Threads, t)
	}
	if a.Crash != nil {
		d.Crash.Context = a.context(a.Crash)
	}
	return d
}

func (a *Assembler) encode(r *asmRegion) []byte {
	a.T.Helper()
	var data []byte
	for _, p := range r.Parts {
		if b, ok := p.Value.([]byte); ok {
			data = append(data, b...)
			continue
		}
		v := a.value(p.Value) + p.plus
		if p.Size == 4 {
			data = a.order.AppendUint32(data, uint32(v))
		} else {
			data = a.order.AppendUint64(data, v)
		}
	}
	return data
}

// Supplier returns the symbol files of the test's modules.
func (a *Assembler) Supplier() resolve.Supplier {
	return &asmSupplier{a: a, open: map[string]resolve.Symbols{}}
}

// asmSupplier has the symbol files of an assembler.
type asmSupplier struct {
	a    *Assembler
	open map[string]resolve.Symbols
}

func (s *asmSupplier) Symbols(_ context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	text, ok := s.a.Files[m.DebugFile]
	if !ok {
		return nil, []symfmt.Tried{{Place: m.DebugFile, Why: "no such file"}}, s.a.errs[m.DebugFile]
	}
	if r := s.open[m.DebugFile]; r != nil {
		r.Share()
		return r, nil, nil
	}
	path := filepath.Join(s.a.T.TempDir(), "a.sym")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	r, err := resolve.Open(context.Background(), path, resolve.OpenOptions{})
	if err == nil {
		s.open[m.DebugFile] = r
		r.Share()
		s.a.T.Cleanup(func() { r.Close() })
	}
	return r, nil, err
}
