package walktest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// WinTraditional is the program string of most functions with a frame pointer.
const WinTraditional = "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + = $L $T0 .cbSavedRegs - = $P $T0 4 + .cbParams + ="

// WinNoPointer is the program string of functions without one.
const WinNoPointer = "$T2 $esp .cbLocals + .cbSavedRegs + = $T0 .raSearchStart = $eip $T0 ^ = $esp $T0 4 + ="

// Junk is a word that is not an address.
const Junk = 0x12345

// WinFuncs are functions whose frames have no STACK WIN: main at 0x401000, outer at 0x402000. The
// function under test follows at 0x403000.
const WinFuncs = "FUNC 1000 100 0 main\nFUNC 2000 100 0 outer\nFUNC 3000 100 0 f\n"

// WinCase returns a process of 32-bit Windows that has called f.
func WinCase(t *testing.T, records ...string) *Assembler {
	a := Assemble(t, arch.X86, dump.Windows)
	a.Module("app.exe", 0x400000, 0x10000, WinFuncs+strings.Join(records, "\n")+"\n")
	return a.At(0x80000000).Mark("esp")
}

// Win returns a STACK WIN record for f with sizes in bytes: of arguments, saved
// registers and locals. The last field is a program, or a flag.
func Win(kind int, params, saved, locals int, last string) string {
	has := 1
	if len(last) == 1 {
		has = 0
	}
	return fmt.Sprintf("STACK WIN %d 3000 100 0 0 %x %x %x 0 %d %s", kind, params, saved, locals, has, last)
}

// WinTest is a call of f.
type WinTest struct {
	Name   string
	Record string
	Stack  func(a *Assembler)
	Regs   []any  // in addition to $eip and $esp
	Want   string // the caller
}

func (c *WinTest) Assemble(t *testing.T) *Assembler {
	a := WinCase(t, c.Record)
	c.Stack(a)
	return a.Regs(append([]any{"$eip", 0x403010, "$esp", "esp"}, c.Regs...)...)
}

// WinRecords has every form of record, with the registers that it gives.
var WinRecords = []WinTest{
	{"program, frame pointer", Win(4, 8, 4, 8, WinTraditional),
		func(a *Assembler) {
			a.Words(1, 2, 3).Mark("ebp").Words("ebp1", 0x401010).Mark("esp1").Words(0xa1, 0xa2).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp1 $ebx=? $esi=? $edi=?"},
	{"program that saves registers", Win(4, 0, 0xc, 0, WinTraditional+" $ebx $T0 4 - ^ = $esi $T0 8 - ^ = $edi $T0 12 - ^ ="),
		func(a *Assembler) {
			a.Words(0xd1, 0x51, 0xb1).Mark("ebp").Words("ebp1", 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", "ebp", "$ebx", 7, "$esi", 8, "$edi", 9}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp1 $ebx=b1 $esi=51 $edi=d1"},
	{"program by sizes", Win(4, 0, 8, 12, WinNoPointer),
		func(a *Assembler) { a.Words(1, 2, 3, 4, 5, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0) },
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp $ebx=?"},
	{"program with .raSearch and .cbCalleeParams", Win(4, 0, 0, 4, "$eip .raSearch .cbCalleeParams + ^ = $esp .raSearch 4 + ="),
		func(a *Assembler) { a.Words(1, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0) },
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1"},
	{"return address two words behind", Win(4, 0, 0, 4, WinNoPointer),
		func(a *Assembler) {
			a.Words(1, Junk, Junk, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1"},
	{"return address three words behind", Win(0, 0, 0, 4, "0"),
		func(a *Assembler) {
			a.Words(1, Junk, Junk, Junk, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi win-fpo main; $esp=esp1 $ebp=ebp"},
	{"aligned", Win(4, 0, 0, 4, "$T1 $ebp 4 + = $T0 $ebp = $L $T0 16 @ = $eip .raSearchStart ^ = $ebp $T0 ^ = $esp .raSearchStart 4 + ="),
		func(a *Assembler) {
			// Where %esp points, there is a return address left by an earlier call.
			a.Words(1, 0x402010, Junk).Mark("ebp").Words("ebp1", 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp1"},
	{"FPO that keeps %ebp", Win(0, 0, 4, 8, "0"),
		func(a *Assembler) { a.Words(1, 2, 3, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0) },
		[]any{"$ebp", 5, "$ebx", 6, "$esi", 7}, "401010 cfi win-fpo main; $esp=esp1 $ebp=5 $ebx=6 $esi=?"},
	{"FPO that uses %ebp", Win(0, 0, 0xc, 4, "1"),
		func(a *Assembler) {
			a.Words("esp1", "ebp1", "esp1", "esp1", 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", 5, "$ebx", 6}, "401010 cfi win-fpo main; $esp=esp1 $ebp=ebp1 $ebx=?"},
	{"type 4 without a program", Win(4, 0, 4, 8, "0"),
		func(a *Assembler) { a.Words(1, 2, 3, 0x401010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5}, "401010 cfi win-fpo main; $esp=esp1 $ebp=5"},
	{"type 0 with a program", Win(0, 0, 0, 4, WinNoPointer),
		func(a *Assembler) { a.Words(1, 0x401010).Mark("esp1").Mark("ebp").Words(0) },
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp"},
	{"type 4 goes before type 0", Win(0, 0, 0, 0, "0") + "\n" + Win(4, 0, 0, 4, WinNoPointer) + "\n" + Win(0, 0, 0, 8, "0"),
		func(a *Assembler) { a.Words(1, 0x401010).Mark("esp1").Mark("ebp").Words(0) },
		[]any{"$ebp", "ebp"}, "401010 cfi win-program main; $esp=esp1"},
	{"a system call that has returned", Win(0, 0, 0, 0, "0"),
		func(a *Assembler) { a.Words(0x403010, 0x401010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5}, "401010 cfi win-fpo main; $esp=esp1 $ebp=5"},
	{"and has aligned the stack", Win(0, 0, 0, 0, "0"),
		func(a *Assembler) { a.Words(0x403010, Junk, Junk, 0x401010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5}, "401010 cfi win-fpo main; $esp=esp1 $ebp=5"},
	{"a program that returns to its own address", Win(4, 0, 0, 0, WinNoPointer),
		func(a *Assembler) { a.Words(0x403010).Mark("esp1").Words(0x401010, 0) },
		[]any{"$ebp", 5}, "403010 cfi win-program f; $esp=esp1"},
}

// WinSearches are cases in which the record cannot be right, so the stack is searched.
var WinSearches = []WinTest{
	{"the return address is no code", Win(4, 0, 4, 4, WinNoPointer),
		func(a *Assembler) {
			a.Words(1, 2, Junk, Junk, Junk, Junk, Junk, 0x401010).Mark("esp1").Mark("ebp").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi_scan win-program main; $esp=esp1 $ebp=ebp"},
	{"the return address is 0, and $ebp is not", Win(4, 0, 0, 0, WinTraditional),
		func(a *Assembler) {
			a.Words(1).Mark("ebp").Words("ebp1", 0, Junk, 0x401010).Mark("esp1").Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", "ebp"}, "401010 cfi_scan win-program main; $esp=esp1 $ebp=ebp1"},
	{"and %ebp of a frame that was passed over", Win(0, 0, 8, 0, "1"),
		func(a *Assembler) {
			// The record's place has a frame pointer that is below the return
			// address; the search from the highest word on finds a better one.
			a.Words("esp", 2, Junk, Junk, Junk, Junk, "ebp1", 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", 5}, "401010 cfi_scan win-fpo main; $esp=esp1 $ebp=ebp1"},
	{"saved registers that the record does not count", Win(0, 0, 0, 0, "1"),
		func(a *Assembler) {
			// Breakpad's own reason for the search: a size of 0 that is wrong.
			a.Words(Junk, Junk, Junk, "ebp1", Junk, 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", 5}, "401010 scan scan main; $esp=esp1"},
	{"a saved %ebp that is not where the record has it", Win(4, 0, 0x10, 0, WinNoPointer+" $ebp $T0 4 - ^ ="),
		func(a *Assembler) {
			a.Words(1, "ebp1", 2, 3, 0x401010).Mark("esp1").Words(1).Mark("ebp1").Words(0, 0)
		},
		[]any{"$ebp", 5}, "401010 cfi win-program main; $esp=esp1 $ebp=ebp1"},
	{"no memory where the program reads", Win(4, 0, 0, 0, WinTraditional),
		func(a *Assembler) { a.Words(1, 2, 3, 0x401010).Mark("esp1").Words("esp1", 0) },
		[]any{"$ebp", 0x10}, "401010 scan scan main; $esp=esp1"},
	{"%ebp is not known", Win(4, 0, 0, 0, WinTraditional),
		func(a *Assembler) { a.Words(1, 2, 3, 0x401010).Mark("esp1").Words(0) },
		nil, "401010 scan scan main; $esp=esp1"},
	{"the program sets no $esp", Win(4, 0, 0, 0, "$eip $esp ^ ="),
		func(a *Assembler) { a.Words(0x402010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5}, "402010 scan scan outer; $esp=esp1"},
	{"the program is none", Win(4, 0, 0, 0, "$eip = ="),
		func(a *Assembler) { a.Words(1, 0x402010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5}, "402010 scan scan outer; $esp=esp1"},
	{"the place of FPO is not in the dump", Win(0, 0, 0, 0x1000, "0"),
		func(a *Assembler) { a.Words(1, 0x402010).Mark("esp1").Words(0) },
		[]any{"$ebp", 5, "$ebx", 6}, "402010 scan scan outer; $esp=esp1 $ebp=5 $ebx=?"},
	{"code without a module", Win(4, 0, 0, 0, WinNoPointer),
		func(a *Assembler) { a.Words(0x30000000).Mark("esp1").Mark("ebp").Words(1, 2) },
		[]any{"$ebp", "ebp"}, "30000000 cfi win-program; $esp=esp1"},
}
