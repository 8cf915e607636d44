package walk

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// assembler makes the dump of a process word by word, so that a test shows its very stack:
//
//	a := assemble(t, arch.X86, dump.Linux)
//	a.module("app", 0x400000, 0x1000, "FUNC 100 10 0 f\n")
//	a.at(0x8000_0000).word(junk).mark("fp").word("fp2").word(0x400105)
//	a.mark("fp2").word(0).word(0)
//	a.regs("$eip", 0x400101, "$esp", "fp", "$ebp", "fp")
//	a.walk(Config{})
//
// A value is a number or the name of a label, which may be marked later.
type assembler struct {
	t       *testing.T
	arch    *arch.Arch
	dump    *dump.Dump
	regions []*asmRegion
	labels  map[string]uint64
	threads [][]any
	modules []dump.Module
	crash   []any
	files   map[string]string // symbol files, by the module's debug file
	errs    map[string]error  // of those that cannot be used
	order   asmOrder
}

// asmOrder is what both byte orders are.
type asmOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// asmRegion is a piece of memory; values are put in when all labels are known.
type asmRegion struct {
	addr, size uint64
	parts      []asmPart
}

type asmPart struct {
	value any // a number, the name of a label, or []byte
	plus  uint64
	size  int // of a word
}

// assemble begins a dump.
func assemble(t *testing.T, a *arch.Arch, os dump.OS) *assembler {
	t.Helper()
	var order asmOrder = binary.LittleEndian
	switch a {
	case arch.PPC, arch.PPC64, arch.S390X, arch.MIPS, arch.MIPS64:
		order = binary.BigEndian
	}
	return &assembler{
		t: t, arch: a, order: order, labels: map[string]uint64{}, files: map[string]string{}, errs: map[string]error{},
		dump: &dump.Dump{Format: "assembled", Order: order, Arch: a, System: dump.System{OS: os}, Main: -1},
	}
}

// module adds a module. Its symbols are the records, without MODULE; "" for a
// module without symbols.
func (a *assembler) module(name string, addr, size uint64, symbols string) *assembler {
	id := fmt.Sprintf("%032X1", addr)
	a.modules = append(a.modules, dump.Module{Range: dump.Range{Addr: addr, Size: size}, Path: name, DebugFile: name, DebugPath: name, DebugID: id})
	if symbols != "" {
		a.files[name] = fmt.Sprintf("MODULE %s %s %s %s\n%s", a.system(), a.arch.Name, id, name, symbols)
	}
	return a
}

func (a *assembler) system() string {
	if a.dump.System.OS == dump.Windows {
		return "windows"
	}
	return a.dump.System.OS.String()
}

// at begins a piece of memory.
func (a *assembler) at(addr uint64) *assembler {
	a.regions = append(a.regions, &asmRegion{addr: addr})
	return a
}

func (a *assembler) region() *asmRegion { return a.regions[len(a.regions)-1] }

// mark gives the place a name.
func (a *assembler) mark(label string) *assembler {
	a.t.Helper()
	if _, twice := a.labels[label]; twice {
		a.t.Fatalf("label %s twice", label)
	}
	a.labels[label] = a.region().addr + a.region().size
	return a
}

// words adds words of the CPU's size.
func (a *assembler) words(values ...any) *assembler {
	for _, v := range values {
		a.add(asmPart{value: v, size: a.arch.PtrSize})
	}
	return a
}

// word adds a word.
func (a *assembler) word(value any) *assembler { return a.words(value) }

// wordPlus adds a word that is a value and more.
func (a *assembler) wordPlus(value any, plus int64) *assembler {
	return a.add(asmPart{value: value, plus: uint64(plus), size: a.arch.PtrSize})
}

// zeros adds n words that are 0.
func (a *assembler) zeros(n int) *assembler { return a.bytes(make([]byte, n*a.arch.PtrSize)...) }

// bytes adds bytes as they are.
func (a *assembler) bytes(b ...byte) *assembler { return a.add(asmPart{value: b, size: len(b)}) }

func (a *assembler) add(p asmPart) *assembler {
	r := a.region()
	r.parts = append(r.parts, p)
	r.size += uint64(p.size)
	return a
}

// regs adds a thread with these registers: names and values, in turn. Other
// registers are not known.
func (a *assembler) regs(namesAndValues ...any) *assembler {
	a.threads = append(a.threads, namesAndValues)
	return a
}

// crashed says that the last thread crashed, and how.
func (a *assembler) crashed(c dump.Crash, namesAndValues ...any) *assembler {
	c.Thread = uint32(len(a.threads))
	a.dump.Crash, a.crash = &c, namesAndValues
	return a
}

// value is the number that a value of the test means.
func (a *assembler) value(v any) uint64 {
	a.t.Helper()
	switch v := v.(type) {
	case string:
		n, ok := a.labels[v]
		if !ok {
			a.t.Fatalf("no label %s", v)
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
	a.t.Fatalf("a value of type %T", v)
	return 0
}

func (a *assembler) context(namesAndValues []any) *dump.Context {
	a.t.Helper()
	c := dump.NewContext(a.arch)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		name := namesAndValues[i].(string)
		if _, ok := a.arch.RegIndex(name); !ok {
			a.t.Fatalf("no register %s", name)
		}
		c.Set(name, a.value(namesAndValues[i+1]))
	}
	return c
}

// build makes the dump. Threads have the ids 1, 2, and so on.
func (a *assembler) build() *dump.Dump {
	a.t.Helper()
	d := a.dump
	d.SetModules(a.modules, 0)
	var regions []dump.Region
	d.Size = 0
	for _, r := range a.regions {
		regions = append(regions, dump.Region{Addr: r.addr, Data: a.encode(r)})
		d.Size += int64(r.size)
	}
	d.Memory = dump.NewMemory(a.order, regions)
	d.Threads = nil
	for i, values := range a.threads {
		t := dump.Thread{ID: uint32(i + 1), Context: a.context(values)}
		if r := d.Memory.Find(t.Context.SP()); r != nil {
			t.Stack = dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))}
		}
		d.Threads = append(d.Threads, t)
	}
	if a.crash != nil {
		d.Crash.Context = a.context(a.crash)
	}
	return d
}

func (a *assembler) encode(r *asmRegion) []byte {
	a.t.Helper()
	var data []byte
	for _, p := range r.parts {
		if b, ok := p.value.([]byte); ok {
			data = append(data, b...)
			continue
		}
		v := a.value(p.value) + p.plus
		if p.size == 4 {
			data = a.order.AppendUint32(data, uint32(v))
		} else {
			data = a.order.AppendUint64(data, v)
		}
	}
	return data
}

// supplier returns the symbol files of the test's modules.
func (a *assembler) supplier() resolve.Supplier {
	return &asmSupplier{a: a, open: map[string]*resolve.Resolver{}}
}

// asmSupplier has the symbol files of an assembler.
type asmSupplier struct {
	a    *assembler
	open map[string]*resolve.Resolver
}

func (s *asmSupplier) Symbols(_ context.Context, m resolve.Module) (*resolve.Resolver, []resolve.Tried, error) {
	text, ok := s.a.files[m.DebugFile]
	if !ok {
		return nil, []resolve.Tried{{Place: m.DebugFile, Why: "no such file"}}, s.a.errs[m.DebugFile]
	}
	if r := s.open[m.DebugFile]; r != nil {
		return r, nil, nil
	}
	path := filepath.Join(s.a.t.TempDir(), "a.sym")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	r, err := resolve.Open(path)
	if err == nil {
		s.open[m.DebugFile] = r
		s.a.t.Cleanup(func() { r.Close() })
	}
	return r, nil, err
}
