package walk

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// winNumbers uses registers by CodeView's numbers, which Breakpad treats as variables of
// the program.
var winNumbers = []walktest.WinTest{
	{Name: "program with registers by CodeView's numbers", Record: walktest.Win(4, 0, 0x10, 0, walktest.WinNoPointer+" $20 $T0 16 - ^ = $22 $T0 4 - ^ = $23 $T0 8 - ^ = $24 $T0 12 - ^ ="),
		Stack: func(a *walktest.Assembler) {
			a.Words(0xb1, 0xd1, 0x51, "ebp1", 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		Regs: []any{"$ebp", 5, "$ebx", 7, "$esi", 8, "$edi", 9}, Want: "401010 cfi win-program main; $esp=esp1 $ebp=ebp1 $ebx=b1 $esi=51 $edi=d1"},
}

func TestWinRecords(t *testing.T) {
	for _, c := range slices.Concat(walktest.WinRecords, walktest.WinSearches, winNumbers) {
		t.Run(c.Name, func(t *testing.T) {
			a := c.Assemble(t)
			s := walkFirst(a, Config{Techniques: []Technique{ByWinProgram, ByWinFPO, ByScan}, MaxFrames: 2})
			wantStack(a, s, EndLimit, "403010 context context f", c.Want)
		})
	}
}

// Types 1 to 3 contain nothing useful.
func TestWinOtherTypes(t *testing.T) {
	for _, kind := range []int{1, 2, 3} {
		a := walktest.WinCase(t, walktest.Win(kind, 0, 0, 4, "0")).Words(1, 0x401010)
		a.Regs("$eip", 0x403010, "$esp", "esp")
		wantStack(a, walkFirst(a, Config{Techniques: []Technique{ByWinProgram, ByWinFPO}}), EndNothing, "403010 context context f")
	}
}

// 40 words are searched, 160 for the topmost frame, in addition to the first.
func TestWinSearchLimits(t *testing.T) {
	for _, c := range []struct {
		words int
		found bool
	}{{160, true}, {161, false}} {
		a := walktest.WinCase(t, walktest.Win(4, 0, 0, 0, "$eip 0 = junk")).Zeros(c.words).Words(0x401010, 0)
		a.Regs("$eip", 0x403010, "$esp", "esp")
		s := walkFirst(a, Config{Techniques: []Technique{ByWinProgram}})
		if len(s.Frames) != 1 {
			t.Errorf("%d words: a search, which was not allowed", c.words)
		}
		s = walkFirst(a, Config{Techniques: []Technique{ByWinProgram, ByScan}, MaxFrames: 2})
		if (len(s.Frames) == 2) != c.found {
			t.Errorf("%d words: %d frames", c.words, len(s.Frames))
		}
	}
	// After a word that is not a return address, the search begins at the next word.
	for _, c := range []struct {
		words int
		found bool
	}{{161, true}, {162, false}} {
		a := walktest.WinCase(t, walktest.Win(4, 0, 0, 0, walktest.WinNoPointer)).Zeros(c.words).Words(0x401010, 0)
		a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", 5)
		s := walkFirst(a, Config{Techniques: []Technique{ByWinProgram, ByScan}, MaxFrames: 2})
		if (len(s.Frames) == 2) != c.found {
			t.Errorf("%d words: %d frames", c.words, len(s.Frames))
		}
	}
	for _, c := range []struct {
		words int
		found bool
	}{{40, true}, {41, false}} {
		a := walktest.WinCase(t, walktest.Win(0, 0, 0, 0, "0"), "STACK WIN 4 1000 100 0 0 0 0 0 0 1 $eip 0 = junk")
		a.Words(0x401010).Zeros(c.words).Words(0x402010, 0)
		a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", 5)
		s := walkFirst(a, Config{Techniques: []Technique{ByWinProgram, ByWinFPO, ByScan}, MaxFrames: 3})
		if (len(s.Frames) == 3) != c.found {
			t.Errorf("%d words: %d frames", c.words, len(s.Frames))
		}
	}
}

// The end of the stack is where $eip and $ebp are 0: nothing is searched.
func TestWinEnd(t *testing.T) {
	a := walktest.WinCase(t, walktest.Win(4, 0, 0, 0, walktest.WinTraditional)).Words(0x401010).Mark("ebp").Words(0, 0, 0x402010, 0)
	a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", "ebp")
	wantStack(a, walkFirst(a, Config{}), EndZero, "403010 context context f")
}

// A caller below its callee is rejected, and so is one at the same address.
func TestWinStuck(t *testing.T) {
	for _, below := range []string{"4", "0"} {
		a := walktest.WinCase(t, walktest.Win(4, 0, 0, 0, "$eip $esp ^ = $esp $esp "+below+" - =")).Words(0x401010, 0, 0)
		a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", "esp")
		wantStack(a, walkFirst(a, Config{Techniques: []Technique{ByWinProgram}}), EndStuck, "403010 context context f")
	}
}

// g has called f with arguments, which are on top of g's frame. Their size is taken from f's STACK WIN,
// FUNC, or PUBLIC, in this order.
func TestWinParameterSizes(t *testing.T) {
	const g = "FUNC 1000 100 0 g\nSTACK WIN 0 1000 100 0 0 0 4 4 0 0 0\nFUNC 2000 100 0 main\nFUNC 4000 10 0 last\n"
	for name, f := range map[string]string{
		"STACK WIN": "FUNC 3000 100 20 f\nSTACK WIN 0 3000 100 0 0 8 0 4 0 0 0\n",
		"FUNC":      "FUNC 3000 100 8 f\n",
		"PUBLIC":    "PUBLIC 3000 8 f\n",
	} {
		t.Run(name, func(t *testing.T) {
			a := walktest.Assemble(t, arch.X86, dump.Windows)
			symbols := g + f
			if name == "PUBLIC" {
				symbols += "FUNC 2f00 10 0 before\n"
			}
			a.Module("app.exe", 0x400000, 0x10000, symbols)
			// f: a word of locals, where it has STACK WIN; else a frame pointer.
			a.At(0x80000000).Mark("esp").Words(1)
			by := "cfi win-fpo"
			if name != "STACK WIN" {
				a.Mark("ebp").Words("ebp1")
				by = "frame_pointer frame-pointer"
			} else {
				a.Mark("ebp")
			}
			a.Words(0x401010).Mark("esp1").Words(0xa1, 0xa2) // arguments
			// g: saved registers and locals, 4 bytes each.
			a.Words(3, 4, 0x402010).Mark("esp2").Mark("ebp1").Words(0, 0)
			a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", "ebp")
			s := walkFirst(a, Config{MaxFrames: 3})
			wantStack(a, s, EndLimit, "403010 context context f", "401010 "+by+" g; $esp=esp1", "402010 cfi win-fpo main; $esp=esp2")
		})
	}
}

// Only the arguments on top of the frame itself count, not those of functions further
// up.
func TestWinParametersOfTheCallee(t *testing.T) {
	a := walktest.Assemble(t, arch.X86, dump.Windows)
	fpo := func(rva, params int) string {
		return fmt.Sprintf("FUNC %x 100 0 f%x\nSTACK WIN 0 %x 100 0 0 %x 0 4 0 0 0\n", rva, rva, rva, params)
	}
	a.Module("app.exe", 0x400000, 0x10000, fpo(0x1000, 0)+fpo(0x2000, 4)+fpo(0x3000, 0x10))
	a.At(0x80000000).Mark("esp").Words(1, 0x402010).Mark("esp1")
	a.Words(0xa1, 0xa2, 0xa3, 0xa4, 1, 0x401010).Mark("esp2")
	a.Words(0xb1, 1, 0x401020).Mark("esp3").Words(0, 0)
	a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", 5)
	s := walkFirst(a, Config{MaxFrames: 4, Techniques: []Technique{ByWinFPO}})
	wantStack(a, s, EndLimit, "403010 context context f3000", "402010 cfi win-fpo f2000; $esp=esp1",
		"401010 cfi win-fpo f1000; $esp=esp2", "401020 cfi win-fpo f1000; $esp=esp3")
}

// A program may read what is not on the stack.
func TestWinProgramReadsOtherMemory(t *testing.T) {
	a := walktest.WinCase(t, walktest.Win(4, 0, 0, 0, "$eip 1342177280 ^ = $esp $esp 4 + =")).Words(1, 2).At(1342177280).Words(0x401010)
	a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", "esp")
	wantStack(a, walkFirst(a, Config{MaxFrames: 2}), EndLimit, "403010 context context f", "401010 cfi win-program main")
}

// %ebp is found quickly in a saved-register area of any size.
func TestWinRecoversEBP(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for name, saved := range map[string]int{"4 GB": 0xffffffff, "16 MB": 1 << 24, "the limit": maxSavedBytes} {
		a := walktest.WinCase(t, walktest.Win(4, 0, saved, 0, "$eip $esp ^ = $esp $esp 4 + = $ebp 0 ="), "STACK WIN 4 1000 100 0 0 0 ffffffff 0 0 1 $eip $esp ^ = $esp $esp 4 + = $ebp 0 =")
		for range 1 << 14 {
			a.Words(0x401010)
		}
		a.Zeros(1 << 22)
		a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", 5)
		watch := testenv.StartWatch()
		s := walkFirst(a, Config{})
		if d := watch.Took(); d > time.Minute {
			t.Errorf("%s: %v", name, d)
		}
		if len(s.Frames) < 1<<14 {
			t.Errorf("%s: %d frames", name, len(s.Frames))
		}
	}
}

// A technique that is not allowed is not used.
func TestWinTechniques(t *testing.T) {
	for by, other := range map[Technique]Technique{ByWinFPO: ByWinProgram, ByWinProgram: ByWinFPO} {
		record := walktest.Win(0, 0, 0, 4, "0")
		if by == ByWinProgram {
			record = walktest.Win(4, 0, 0, 4, walktest.WinNoPointer)
		}
		a := walktest.WinCase(t, record).Words(1, 0x401010).Mark("ebp").Words(0)
		a.Regs("$eip", 0x403010, "$esp", "esp", "$ebp", "ebp")
		if s := walkFirst(a, Config{Techniques: []Technique{other}}); len(s.Frames) != 1 {
			t.Errorf("%v is used where it is not allowed", by)
		}
		if s := walkFirst(a, Config{Techniques: []Technique{by}}); len(s.Frames) != 2 {
			t.Errorf("%v: %d frames: %v", by, len(s.Frames), s.Trace)
		}
	}
}

// A leaf function of 64-bit Windows has its return address on top of the stack.
func TestLeaf(t *testing.T) {
	for _, c := range []struct {
		os    dump.OS
		top   any
		trust string
	}{{dump.Windows, 0x401010, "scan return"}, {dump.Linux, 0x401010, "scan scan"}, {dump.Windows, walktest.Junk, "scan scan"}} {
		a := walktest.Assemble(t, arch.X86_64, c.os)
		a.Module("app.exe", 0x400000, 0x10000, walktest.WinFuncs)
		a.At(0x80000000).Mark("rsp").Words(c.top, 0x401010, 0)
		a.Regs("$rip", 0x403010, "$rsp", "rsp", "$rbp", 3, "$r9", 9)
		want := "401010 " + c.trust + " main"
		if c.trust == "scan return" {
			want += "; $rbp=3 $r9=9"
		}
		wantStack(a, walkFirst(a, Config{MaxFrames: 2}), EndLimit, "403010 context context f", want)
	}
}
