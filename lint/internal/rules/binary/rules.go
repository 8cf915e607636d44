// Package binary implements the rules of the family binary, which compare a symbol file with its
// binary. They use the binary's headers, symbol tables, .eh_frame_hdr, .sframe and instructions, but
// never the dumper's output.
package binary

import (
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

const binarySpec = "symbol_files: "

// Rules are the rules of the family, by ID.
var Rules = []*check.Rule{
	{
		Rule: &finding.Rule{
			ID: "SYM501", Title: "MODULE id differs from the binary's", Severity: finding.Error, Since: "0.1",
			Spec: binarySpec + "MODULE records",
			Doc: `A crash report names a module by its id: the build-id, or without one a hash of the
first page of .text. Under another id the file is never found, or found for another
binary. Nothing else is compared then; --ignore SYM501 compares all the same.`,
		},
		On:    []symfmt.Kind{symfmt.KindModule},
		Check: checkModuleID,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM502", Title: "MODULE names another CPU or system", Severity: finding.Error, Since: "0.1",
			Spec: binarySpec + "MODULE records",
			Doc: `Readers choose the registers of STACK CFI by the CPU of MODULE. If it differs from
the binary's, every rule is meaningless.`,
		},
		On:    []symfmt.Kind{symfmt.KindModule},
		Check: checkModuleCPU,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM503", Title: "stored under a name or id that MODULE does not have", Severity: finding.Error, Since: "0.1",
			Spec: "Breakpad's SimpleSymbolSupplier: NAME/ID/NAME.sym",
			Doc: `A supplier looks for NAME/ID/NAME.sym, and some readers refuse a file whose MODULE
says something else. The check needs a path of that form, but no binary.`,
			Cites: []string{"dump_syms#629"},
		},
		Check: check.AtEnd(checkStorePath),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM504", Title: "function symbol without FUNC or PUBLIC", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "PUBLIC records",
			Doc: `The binary's symbol tables (.symtab, .dynsym, .gnu_debugdata) name a function at an
address where neither a FUNC nor a PUBLIC begins: frames in it get no name, or the
name of the function before it.`,
		},
		Check: withBinary(checkSymbols),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM505", Title: "code without FUNC or PUBLIC", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "FUNC records",
			Doc: `Executable bytes inside no FUNC and after no PUBLIC have no name. Padding, the
procedure linkage table, start-up code without rules and data do not count. There is
one finding a section, with the number of these bytes and the places of the largest
pieces. Functions that are not exported are like this in a stripped binary: --ignore
SYM505 leaves the finding out.`,
			Cites: []string{"rust-minidump#781"},
		},
		Check: withBinary(checkCodeNamed),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM506", Title: "FUNC or PUBLIC outside of executable code", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "FUNC records",
			Doc: `The binary has no instruction at the address. If there are many such records,
addresses count from another base than the lowest loaded segment: the binary was
prelinked or rebased after it was dumped, or it is a different one.`,
		},
		On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic}, Check: checkExecutable,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM507", Title: "FDE without STACK CFI INIT", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `The table of .eh_frame_hdr says where the binary has unwinding rules. Where it names
a function and the symbol file has no STACK CFI INIT, the dumper lost the rules, and
a walker has to guess.`,
		},
		Check: checkFDEs,
	},
	{
		Rule: &finding.Rule{
			ID: "SYM508", Title: "STACK CFI INIT whose size differs from its FDE", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `An FDE's rules end where its range ends. A STACK CFI INIT that is shorter loses rows,
and one that is longer has rules for code that they do not belong to.`,
		},
		Check: checkFDEs, // shared with SYM507
	},
	{
		Rule: &finding.Rule{
			ID: "SYM509", Title: "row that disagrees with .sframe", Severity: finding.Warning, Since: "0.1",
			Spec: "SFrame; " + binarySpec + "STACK CFI records",
			Doc: `The assembler makes .sframe and .eh_frame from the same directives, so both have the
same rules. Where they differ, one of them is wrong.`,
		},
		Check: withBinary(checkSFrame),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM510", Title: "part of the binary that cannot be compared", Severity: finding.Note, Since: "0.1",
			Spec: "ELF",
			Doc: `A part of the binary is damaged or missing: a separate debug file has no code and no
.eh_frame_hdr. Rules that need the part found nothing because they saw nothing: give
the binary that runs.`,
		},
		Check: withBinary(checkBinary),
	},
	{
		Rule: &finding.Rule{
			ID: "SYM511", Title: "MODULE name differs from the binary's DT_SONAME", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "MODULE records",
			Doc: `Crash reporters (Breakpad's client, minidump-writer) name a library by its DT_SONAME,
and walkers ask for symbols by that name: libsqlite3.so.0, not libsqlite3.so.0.8.6.
Under another name only symtool finds the file, by its id. Nothing is reported for a
file NAME/ID/NAME.sym in a store that has the same id under DT_SONAME, too, as after
dump --both-names; for a binary without DT_SONAME; and for a separate debug file,
which has lost it.`,
		},
		On:    []symfmt.Kind{symfmt.KindModule},
		Check: checkModuleName,
	},
	followRule,
	{
		Rule: &finding.Rule{
			ID: "SYM552", Title: "STACK CFI that was not compared with instructions", Severity: finding.Note, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `SYM551 follows the stack pointer through the code and abstains where it cannot. This
finding says how many STACK CFI INITs were followed, and why others were not.`,
		},
		Check: checkFollow, // shared with SYM551
	},
	{
		Rule: &finding.Rule{
			ID: "SYM553", Title: "CFA that a few instructions contradict", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `As SYM551, but only at a few instructions, and at no call: a walk goes wrong only if
it begins there, at a crash or in a sampling profiler. Compilers make the mistake in
epilogues: LLVM where it moves instructions between pops, GCC for arm64 where x29 is
restored before the stack pointer.`,
			Cites: []string{"llvm-project#63598"},
		},
		Check: checkFollow, // shared with SYM551
	},
	{
		Rule: &finding.Rule{
			ID: "SYM554", Title: "return address that the instructions of a function contradict", Severity: finding.Error, Since: "0.1", Misleads: true,
			Spec: binarySpec + "STACK CFI records",
			Doc: `The CFA is right at this address, and the return address is not where the rule of .ra
says: on x86-64 it is always just below the CFA; on arm64 the code has saved x30
elsewhere, or has called a function since, so x30 has another value. Only functions
with a call at which this holds are reported: each walk through them goes wrong.`,
		},
		Check: checkFollow, // shared with SYM551
	},
	{
		Rule: &finding.Rule{
			ID: "SYM555", Title: "saved register that the instructions of a function contradict", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `The function was followed from its first instruction. It saves a register that its
caller needs (rbx, rbp, r12 to r15; x19 to x29) at another place on the stack than
the rule says, or has not saved it yet. A walker gives the caller a wrong value, and
where the caller's CFA is computed from it, all frames from there on are lost. A
wrong return address that concerns no call of the function (see SYM554) is reported
here.`,
		},
		Check: checkFollow, // shared with SYM551
	},
	{
		Rule: &finding.Rule{
			ID: "SYM556", Title: "overwritten register without a rule", Severity: finding.Warning, Since: "0.1",
			Spec: binarySpec + "STACK CFI records",
			Doc: `The instructions save a register of the caller on the stack and then overwrite it,
and STACK CFI has no rule for it: a walker takes the new value for the caller's.
STACK CFI INITs with no rule for any register but .ra are not checked: functions of
Go and OCaml keep no registers for their callers, and what looks like a save is not
one.`,
		},
		Check: checkFollow, // shared with SYM551
	},
	{
		Rule: &finding.Rule{
			ID: "SYM557", Title: "rule of the binary's .eh_frame that its instructions contradict", Severity: finding.Warning, Since: "0.1", Misleads: true,
			Spec: binarySpec + "STACK CFI records",
			Doc: `As SYM551 and SYM554, but the binary's own .eh_frame has the same rules of the CFA and
of the return address at this address: the symbol file repeats them. Unwinders that
read the binary go the same way. Most are mistakes in hand-written assembly; some are
meant, to skip a frame: __morestack of libgcc, which calls the function that called
it, and StgRun of GHC. Report it to whoever wrote the function, or suppress it there.`,
		},
		Check: checkFollow, // shared with SYM551
	},
}
