package walk

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// A scan covers as many words as the peers' scans, on each CPU.
func TestScanLimits(t *testing.T) {
	for _, on := range arch.All {
		if cpu.All[on] == nil {
			t.Errorf("%s is not walked", on.Name)
			continue
		}
		first, later, skipped := 161, 41, 0 // words
		switch on {
		case arch.MIPS:
			first, later, skipped = 256, 256, 4
		case arch.MIPS64:
			first, later = 128, 128
		}
		for _, c := range []struct {
			frames      int // above the one where the scan starts
			zeros       int
			found       bool
			description string
		}{
			{0, 0, true, "the first word"},
			{0, first - 1, true, "the last word"},
			{0, first, false, "one too far"},
			{1, skipped, true, "the caller's first word"},
			{1, skipped - 1, skipped == 0, "where arguments are kept"},
			{1, later - 1, true, "the caller's last word"},
			{1, later, false, "the caller's last word and one"},
		} {
			if c.zeros < 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", on.Name, c.description), func(t *testing.T) {
				a := process(t, on, dump.Linux)
				want := []string{"400120 context context f"}
				if c.frames == 1 {
					a.Word(inF)
					want = append(want, "400150 scan scan f")
				}
				a.Zeros(c.zeros).Word(inG).Mark("sp1").Zeros(400)
				if c.found {
					want = append(want, "400250 scan scan g; "+on.SP+"=sp1")
				}
				wantStack(a, walkFirst(a.Regs(on.PC, 0x400120, on.SP, "sp"), Config{}), EndNothing, want...)
			})
		}
	}
}

// The words that a scan accepts as return addresses.
func TestScanCandidates(t *testing.T) {
	const bare = 0x500000 // a module without symbols
	for _, c := range []struct {
		name  string
		cpu   *arch.Arch
		value any
		want  string
	}{
		{"in a function", arch.X86_64, inG, "400250 scan scan g"},
		{"behind the last instruction, as of a function that does not return", arch.X86_64, 0x400200, "400200 scan scan f"},
		{"in no function", arch.X86_64, hole, ""},
		{"a function's first instruction, after no function", arch.X86_64, 0x400100, ""},
		{"in a module without symbols", arch.X86_64, bare + 8, "500008 scan scan"},
		{"the start of a module", arch.X86_64, bare, ""},
		{"behind a module", arch.X86_64, bare + 0x1001, ""},
		{"the end of a module", arch.X86_64, bare + 0x1000, "501000 scan scan"},
		{"no module", arch.X86_64, 0x600000, ""},
		{"the first page", arch.X86_64, 0xfff, ""},
		{"all ones", arch.X86_64, uint64(1<<64 - 1), ""},
		{"arm64, not aligned", arch.ARM64, inG + 2, ""},
		{"arm64, signed", arch.ARM64, uint64(0x2a_5500_0000_0000 | inG), "400250 scan scan g"},
		{"ppc, not aligned", arch.PPC, inG + 2, ""},
		{"s390x, not aligned", arch.S390X, inG + 1, ""},
		{"arm, Thumb", arch.ARM, inG + 1, "400250 scan scan g"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, c.cpu, dump.Linux).Module("bare", bare, 0x1000, "")
			want := []string{"400120 context context f"}
			if c.want != "" {
				want = append(want, c.want)
			}
			a.Words(walktest.Junk, c.value, walktest.Junk, walktest.Junk)
			wantStack(a, walkFirst(a.Regs(c.cpu.PC, 0x400120, c.cpu.SP, "sp"), Config{}), EndNothing, want...)
		})
	}
}

// If the dump has the code, only an address after a call is a return address.
func TestScanChecksCalls(t *testing.T) {
	a := process(t, arch.X86_64, dump.Linux).Words(0x400250, 0x400260, 0x400270, 0x400280, walktest.Junk)
	nops := []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}
	a.At(0x400248).Bytes(nops...)
	a.At(0x400258).Bytes(nops[:3]...).Bytes(0xe8, 0, 0, 0x10, 0) // to no code
	a.At(0x400268).Bytes(nops[:3]...).Bytes(0xe8, 0x00, 1, 0, 0) // call 0x400370
	s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
	wantStack(a, s, EndNothing, "400120 context context f", "400270 scan scan g", "400280 scan scan g") // its code is unknown
}

// Where a function begins behind a call of another function than the frame's, a scan sees a pointer.
func TestScanPointers(t *testing.T) {
	for _, c := range []struct {
		name string
		call []byte // its last byte is at 0x4001ff
		want []string
	}{
		{"a call of the frame's function", []byte{0xe8, 0x00, 0xff, 0xff, 0xff}, []string{"400200 scan scan f", "400250 scan scan g"}},
		{"a call of another function", []byte{0xe8, 0x50, 0x01, 0, 0}, []string{"400250 scan scan g"}},
		{"a call of a jump to the frame's function", []byte{0xe8, 0x80, 0, 0, 0}, []string{"400200 scan scan f", "400250 scan scan g"}},
		{"a call by a register", []byte{0x90, 0x90, 0x90, 0xff, 0xd0}, []string{"400200 scan scan f", "400250 scan scan g"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, arch.X86_64, dump.Linux).Words(walktest.Junk, 0x400200, inG, walktest.Junk)
			a.At(0x4001f8).Bytes(0x90, 0x90, 0x90).Bytes(c.call...)
			a.At(0x400248).Bytes(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0)
			a.At(0x400280).Bytes(0xe9, 0x7b, 0xfe, 0xff, 0xff, 0x90, 0x90, 0x90) // jmp 0x400100
			s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
			wantStack(a, s, EndNothing, append([]string{"400120 context context f"}, c.want...)...)
		})
	}
}

// On x86 and x86-64 a scan finds the frame pointer where Breakpad does.
func TestScanFramePointer(t *testing.T) {
	const far = stackAt + 0x30000
	for _, c := range []struct {
		name  string
		cpu   *arch.Arch
		fp    any // in the frame; "" for unknown
		saved any // the word below the return address
		want  string
	}{
		{"x86: saved", arch.X86, nil, "up", "up"},
		{"x86: saved, though the register has another", arch.X86, "top", "up", "up"},
		{"x86: points down", arch.X86, nil, "sp", "?"},
		{"x86: too far", arch.X86, nil, far, "?"},
		{"x86: to no memory", arch.X86, nil, stackAt + 0x8000, "?"},
		{"x86: not saved, left as it was", arch.X86, "top", walktest.Junk, "top"},
		{"x86: not saved, points down", arch.X86, "sp", walktest.Junk, "?"},
		{"x86-64: saved where the register points", arch.X86_64, "slot", "up", "up"},
		{"x86-64: not where the register points", arch.X86_64, nil, "up", "?"},
		{"x86-64: not where the register points, left as it was", arch.X86_64, "top", "up", "top"},
		{"x86-64: points down", arch.X86_64, "slot", "sp", "?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := process(t, c.cpu, dump.Linux)
			a.Words(walktest.Junk).Mark("slot").Words(c.saved, inG).Words(walktest.Junk, walktest.Junk).Mark("up").Words(walktest.Junk, walktest.Junk).Mark("top").Words(walktest.Junk, walktest.Junk)
			a.At(far).Zeros(2)
			regs := []any{c.cpu.PC, 0x400120, c.cpu.SP, "sp"}
			if c.fp != nil {
				regs = append(regs, c.cpu.FP, c.fp)
			}
			s := walkFirst(a.Regs(regs...), Config{Techniques: []Technique{ByScan}})
			wantStack(a, s, EndNothing, "400120 context context f", "400250 scan scan g; "+c.cpu.FP+"="+c.want)
		})
	}
	a := process(t, arch.X86, dump.Linux).Words(inG, walktest.Junk).Mark("up").Words(walktest.Junk)
	s := walkFirst(a.Regs("$eip", 0x400120, "$esp", "sp", "$ebp", "up"), Config{Techniques: []Technique{ByScan}})
	wantStack(a, s, EndNothing, "400120 context context f", "400250 scan scan g; $ebp=up") // nothing is below: left as it was
}

// Without symbols the program's first function is recognised by its address, which the system passes to programs, and
// ends the walk.
func TestScanEndsAtEntry(t *testing.T) {
	for entry, want := range map[uint64]End{0x500000: EndStart, 0x500008: EndStart, 0x4fffd9: EndStart, 0x4fffd8: EndNothing, 0x500009: EndNothing, 0: EndNothing} {
		a := process(t, arch.X86_64, dump.Linux).Module("bare", 0x500000, 0x1000, "").Words(inG, 0x500009, inF, walktest.Junk)
		a.Dump.Auxv = []dump.Aux{{Key: 3, Value: 0x500040}, {Key: atEntry, Value: entry}}
		lines := []string{"400120 context context f", "400250 scan scan g", "500009 scan scan"}
		if want == EndNothing {
			lines = append(lines, "400150 scan scan f")
		}
		if entry == 0x500009 {
			lines = slices.Delete(lines, 2, 3)
		}
		wantStack(a, walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{}), want, lines...)
	}
}

// A scan accepts no word that points into a gap between the mappings of a module, into its data, or beyond its end:
// none of these has code that made a call.
func TestScanExtents(t *testing.T) {
	file := func(addr, size uint64, exec bool) dump.Mapping {
		return dump.Mapping{Range: dump.Range{Addr: addr, Size: size}, Read: true, Exec: exec, Path: "/app"}
	}
	const gap, data, behind = 0x500010, 0x600010, 0x700010
	for _, c := range []struct {
		name  string
		maps  []dump.Mapping
		found bool
	}{
		{"mapped", []dump.Mapping{file(0x400000, 0x1000, true), file(0x600000, 0x1000, false)}, true},
		{"not known", nil, false},
	} {
		a := walktest.Assemble(t, arch.X86_64, dump.Linux).Module("app", 0x400000, 0x300000, "")
		a.At(0x80000000).Mark("sp").Words(gap, data, behind, inG).Zeros(8)
		a.Dump.Maps = c.maps
		s := walkFirst(a.Regs("$rip", 0x400120, "$rsp", "sp"), Config{})
		if got := len(s.Frames) > 1 && s.Frames[1].PC == inG; got != c.found {
			t.Errorf("%s: frames %+v", c.name, s.Frames)
		}
	}
}
