package lint

import (
	"github.com/symtool/symtool/symfmt"
)

const binarySpec = "symbol_files: "

var binaryRules = []*Rule{
	{
		ID: "SYM501", Title: "MODULE id is not the binary's", Severity: Error, Since: "0.3",
		Spec: binarySpec + "MODULE records",
		Doc: `A crash report names a module by its id: the build-id, or without one a hash of
the first page of .text. Under another id the file is never found, or found for
another binary. Nothing else is compared then: --ignore SYM501 compares all the same.`,
		On:    onModule,
		Check: checkModuleID,
	},
	{
		ID: "SYM502", Title: "MODULE names another CPU or system", Severity: Error, Since: "0.3",
		Spec: binarySpec + "MODULE records",
		Doc: `Readers choose the registers of STACK CFI by the CPU of MODULE. One that is not the
binary's makes every rule meaningless.`,
		On:    onModule,
		Check: checkModuleCPU,
	},
	{
		ID: "SYM503", Title: "stored under a name or id that MODULE does not have", Severity: Error, Since: "0.3",
		Spec: "Breakpad's SimpleSymbolSupplier: NAME/ID/NAME.sym",
		Doc: `A supplier looks for NAME/ID/NAME.sym, and some readers refuse a file whose MODULE
says something else. Needs a path of that form, but no binary.`,
		Cites: []string{"dump_syms#629"},
		Check: checkStorePath,
	},
	{
		ID: "SYM504", Title: "function symbol without FUNC or PUBLIC", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "PUBLIC records",
		Doc: `The binary's symbol tables (.symtab, .dynsym, .gnu_debugdata) name a function at an
address where neither a FUNC nor a PUBLIC begins: frames in it get no name, or that
of the function in front of it.`,
		Check: checkSymbols,
	},
	{
		ID: "SYM505", Title: "code without FUNC or PUBLIC", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "FUNC records",
		Doc: `Executable bytes that belong to no FUNC and lie behind no PUBLIC have no name. Padding
and the procedure linkage table do not count. One finding per section tells how
many bytes these are and where the largest pieces are.`,
		Cites: []string{"rust-minidump#781"},
		Check: checkCodeNamed,
	},
	{
		ID: "SYM506", Title: "FUNC or PUBLIC outside of executable code", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "FUNC records",
		Doc: `No instruction of the binary is at the address. Where it is so for many, addresses
count from another base than the lowest loaded segment: the binary was prelinked or
rebased after it was dumped, or it is another one.`,
		On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic}, Check: checkExecutable,
	},
	{
		ID: "SYM507", Title: "FDE without STACK CFI INIT", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `The table of .eh_frame_hdr tells where the binary has unwinding rules. Where it names
a function and the symbol file has no STACK CFI INIT, the dumper lost them, and a
walker has to guess.`,
		Check: checkFDEs,
	},
	{
		ID: "SYM508", Title: "STACK CFI INIT of another size than its FDE", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `An FDE's rules end where its range ends. A STACK CFI INIT that is shorter loses rows,
and one that is longer has rules for code that they are not of.`,
		Check: checkFDEs, // as SYM507
	},
	{
		ID: "SYM509", Title: "row that disagrees with .sframe", Severity: Warning, Since: "0.3",
		Spec: "SFrame; " + binarySpec + "STACK CFI records",
		Doc: `The assembler makes .sframe and .eh_frame of the same directives, so that both have
the same rules. Where they differ one of them is wrong.`,
		Check: checkSFrame,
	},
	{
		ID: "SYM510", Title: "the binary cannot be compared with", Severity: Note, Since: "0.3",
		Spec: "ELF",
		Doc: `A part of the binary is damaged or is not there: a separate debug file has no code and
no .eh_frame_hdr. Rules that need the part found nothing because they saw nothing:
give the binary that runs.`,
		Check: checkBinary,
	},
	{
		ID: "SYM511", Title: "MODULE name is not the binary's DT_SONAME", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "MODULE records",
		Doc: `Crash reporters (Breakpad's client, minidump-writer) name a library by its DT_SONAME, and
walkers ask for symbols by that name: libsqlite3.so.0, not libsqlite3.so.0.8.6. Under
another name only symtool finds the file, by its id. Nothing is reported of a file
NAME/ID/NAME.sym of a store that has the same id under DT_SONAME, too, as after
dump --both-names, of a binary without DT_SONAME, and of a separate debug file, which
has lost it.`,
		On:    onModule,
		Check: checkModuleName,
	},
	followRule,
	{
		ID: "SYM552", Title: "STACK CFI that was not compared with instructions", Severity: Note, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `SYM551 follows the stack pointer through the code and abstains where it cannot: this
tells how many STACK CFI INITs were followed and why others were not.`,
		Check: checkFollow, // as SYM551
	},
	{
		ID: "SYM553", Title: "CFA that a few instructions contradict", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `As SYM551, but only at a few instructions, none of which is a call: a walk goes wrong
only if it begins there, at a crash or in a sampling profiler. Compilers make the
mistake in epilogues: LLVM where it moves instructions between pops, GCC for arm64
where x29 is restored before the stack pointer.`,
		Cites: []string{"llvm-project#63598"},
		Check: checkFollow, // as SYM551
	},
	{
		ID: "SYM554", Title: "return address that the instructions of a function contradict", Severity: Error, Since: "0.3", Misleads: true,
		Spec: binarySpec + "STACK CFI records",
		Doc: `The CFA is right at this address, and the return address is not where the rule of .ra
says: on x86-64 it is always in front of the CFA, and on arm64 the code saved x30
elsewhere, or called a function since, so that x30 has another value. It is about
functions with a call where this is so: each walk through them goes wrong.`,
		Check: checkFollow, // as SYM551
	},
	{
		ID: "SYM555", Title: "saved register that the instructions of a function contradict", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `The function's instructions were followed from its first one, and they save a register
that its caller needs (rbx, rbp, r12 to r15; x19 to x29) at another place of the stack than the
rule says, or have not saved it yet. A walker gives the caller a wrong value, and
where the caller's CFA is computed from it, all frames from there on are lost. What SYM554 says
of the return address is here if no call of the function is concerned.`,
		Check: checkFollow, // as SYM551
	},
	{
		ID: "SYM556", Title: "overwritten register without a rule", Severity: Warning, Since: "0.3",
		Spec: binarySpec + "STACK CFI records",
		Doc: `The instructions save a register of the caller on the stack and then give it another
value, and STACK CFI has no rule for it: a walker takes the value for the caller's.
It abstains where a STACK CFI INIT has no rule for any register but .ra: in Go and OCaml functions
keep no registers for their callers, so that what looks like a save is none.`,
		Check: checkFollow, // as SYM551
	},
}
