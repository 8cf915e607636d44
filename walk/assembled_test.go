package walk

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// assembledSources returns the symbol files of the test's modules.
func assembledSources(a *walktest.Assembler) *SymbolSet { return &SymbolSet{Symbols: a.Supplier()} }

// walkAll builds the dump and walks it.
func walkAll(a *walktest.Assembler, c Config) *Result {
	a.T.Helper()
	res, err := NewWalker(assembledSources(a), c).Walk(context.Background(), a.Build())
	if err != nil {
		a.T.Fatal(err)
	}
	return res
}

// walkFirst builds the dump and walks its first thread.
func walkFirst(a *walktest.Assembler, c Config) *Stack {
	a.T.Helper()
	c.Trace = true
	return &walkAll(a, c).Stacks[0]
}

// wantStack compares a stack with lines "pc trust technique [function]", whose numbers are in
// hexadecimal or names of labels, and the reason for its end. Registers follow a semicolon: "400105
// cfi symbols f; $ebp=fp2 $ebx=5". A register with a question mark, "$ebx=?", is unknown.
func wantStack(a *walktest.Assembler, s *Stack, end End, lines ...string) {
	a.T.Helper()
	var got, want bytes.Buffer
	for i := range s.Frames {
		f := &s.Frames[i]
		registers := ""
		if i < len(lines) {
			_, registers, _ = strings.Cut(lines[i], ";")
		}
		fmt.Fprintln(&got, frameText(a, f, registers))
	}
	fmt.Fprintln(&got, end)
	for _, line := range lines {
		head, registers, _ := strings.Cut(line, ";")
		text := strings.Join(strings.Fields(head), " ")
		for _, r := range strings.Fields(registers) {
			name, v, _ := strings.Cut(r, "=")
			if n, ok := a.Labels[v]; ok {
				v = fmt.Sprintf("%x", n)
			}
			text += " " + name + "=" + v
		}
		fmt.Fprintln(&want, text)
	}
	fmt.Fprintln(&want, s.End)
	if s.End != end || got.String() != want.String() {
		a.T.Errorf("end %v (%s), want %v\ngot\n%swant\n%strace\n%s", s.End, s.Why, end, &got, &want, strings.Join(s.Trace, "\n"))
	}
}

func frameText(a *walktest.Assembler, f *Frame, registers string) string {
	text := fmt.Sprintf("%x %v %v", f.PC, f.Trust, f.By)
	if name := f.Function(); name != "" {
		text += " " + name
	}
	for _, r := range strings.Fields(registers) {
		name, _, _ := strings.Cut(r, "=")
		i, ok := a.Arch.RegIndex(name)
		if !ok {
			a.T.Fatalf("no register %s", name)
		}
		v := "?"
		if n, ok := f.Register(i); ok {
			v = fmt.Sprintf("%x", n)
		}
		text += " " + name + "=" + v
	}
	return text
}

// The assembler itself: labels used before and after they are defined, both byte
// orders, symbols, unknown registers.
func TestAssembler(t *testing.T) {
	for _, cpu := range []*arch.Arch{arch.X86, arch.X86_64, arch.PPC64} {
		a := walktest.Assemble(t, cpu, dump.Linux)
		a.Module("app", 0x400000, 0x1000, "FUNC 100 10 0 f\n")
		a.At(0x8000).Mark("low").Words(1, "high").At(0x9000).Mark("high").WordPlus("low", -4).Bytes(1, 2, 3).Zeros(1)
		a.Regs(cpu.PC, 0x400101, cpu.SP, "high")
		d := a.Build()
		size := uint64(cpu.PtrSize)
		for addr, want := range map[uint64]uint64{0x8000: 1, 0x8000 + size: 0x9000, 0x9000: 0x7ffc} {
			if v, ok := d.Memory.Word(addr, cpu.PtrSize); !ok || v != want {
				t.Errorf("%s: at %#x %#x %v, want %#x", cpu.Name, addr, v, ok, want)
			}
		}
		if n := uint64(len(d.Memory.Regions[1].Data)); n != 2*size+3 || d.Threads[0].Stack != (dump.Range{Addr: 0x9000, Size: n}) {
			t.Errorf("%s: %d bytes, stack %+v", cpu.Name, n, d.Threads[0].Stack)
		}
		s := walkFirst(a, Config{Techniques: []Technique{}})
		wantStack(a, s, EndNothing, "400101 context context f; "+cpu.SP+"=high "+cpu.FP+"=?")
	}
}
