package lint

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// The rules of this family compare a symbol file with the binary that it is of.
// What they know of the binary is what its headers, symbol tables, .eh_frame_hdr,
// .sframe and instructions say, and never what the dumper makes of it.

const binarySpec = "symbol_files: "

var binaryRules = sync.OnceValue(func() []*Rule {
	return []*Rule{
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
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM507
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
		followRule,
		{
			ID: "SYM552", Title: "STACK CFI that was not compared with instructions", Severity: Note, Since: "0.3",
			Spec: binarySpec + "STACK CFI records",
			Doc: `SYM551 follows the stack pointer through the code and abstains where it cannot: this
tells how many STACK CFI INITs were followed and why others were not.`,
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM551
		},
		{
			ID: "SYM553", Title: "CFA that a few instructions contradict", Severity: Warning, Since: "0.3",
			Spec: binarySpec + "STACK CFI records",
			Doc: `As SYM551, but only at a few instructions, none of which is a call: a walk goes wrong
only if it begins there, at a crash or in a sampling profiler. Compilers make the
mistake in epilogues: LLVM where it moves instructions between pops, GCC for arm64
where x29 is restored before the stack pointer.`,
			Cites: []string{"llvm-project#63598"},
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM551
		},
		{
			ID: "SYM554", Title: "return address that the instructions of a function contradict", Severity: Error, Since: "0.3", Misleads: true,
			Spec: binarySpec + "STACK CFI records",
			Doc: `The CFA is right at this address, and the return address is not where the rule of .ra
says: on x86-64 it is always in front of the CFA, and on arm64 the code saved x30
elsewhere, or called a function since, so that x30 has another value. It is about
functions with a call where this is so: each walk through them goes wrong.`,
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM551
		},
		{
			ID: "SYM555", Title: "saved register that the instructions of a function contradict", Severity: Warning, Since: "0.3",
			Spec: binarySpec + "STACK CFI records",
			Doc: `The function's instructions were followed from its first one, and they save a register
that its caller needs (rbx, rbp, r12 to r15; x19 to x29) at another place of the stack than the
rule says, or have not saved it yet. A walker gives the caller a wrong value, and
where the caller's CFA is computed from it, all frames from there on are lost. What SYM554 says
of the return address is here if no call of the function is concerned.`,
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM551
		},
		{
			ID: "SYM556", Title: "overwritten register without a rule", Severity: Warning, Since: "0.3",
			Spec: binarySpec + "STACK CFI records",
			Doc: `The instructions save a register of the caller on the stack and then give it another
value, and STACK CFI has no rule for it: a walker takes the value for the caller's.
It abstains where a STACK CFI INIT has no rule for any register but .ra: in Go and OCaml functions
keep no registers for their callers, so that what looks like a save is none.`,
			Check: func(*Pass) (func(*symfmt.Record), func()) { return nil, nil }, // with SYM551
		},
	}
})

// elfBinary is what the rules share of the binary.
type elfBinary struct {
	*elfobj.File
	base uint64
	rows stackRows
	mini *elfobj.File
	// problems are parts that could not be read: one message each.
	problems []string
	done     bool
}

func openBinary(f *elfobj.File) *elfBinary { return &elfBinary{File: f, base: f.LoadBase()} }

// problem notes what could not be read.
func (b *elfBinary) problem(what string, err error) {
	if err == nil {
		return
	}
	if text := what + ": " + err.Error(); !slices.Contains(b.problems, text) {
		b.problems = append(b.problems, text)
	}
}

// ready puts the rows in order, once.
func (b *elfBinary) ready() *stackRows {
	if !b.done {
		b.rows.finish()
		b.done = true
	}
	return &b.rows
}

// rva is the address of the symbol file of one of the binary.
func (b *elfBinary) rva(addr uint64) symfmt.RVA { return symfmt.RVA(addr - b.base) }

func (b *elfBinary) addr(rva symfmt.RVA) uint64 { return uint64(rva) + b.base }

// code returns the bytes of the binary's code at an address up to the end of
// their section, nil where there is none.
func (b *elfBinary) code(addr uint64) []byte {
	if !b.HasSections() {
		if p, ok := b.LoadedFrom(addr); ok && p.Flags&elf.PF_X != 0 {
			data, err := b.SectionOf(p, "segment", elf.SHT_PROGBITS).Data()
			b.problem("segment with code", err)
			return data
		}
		return nil
	}
	for _, s := range b.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Flags&elf.SHF_ALLOC != 0 && addr-s.Addr < s.FileSize && s.HasData() {
			data, err := s.Data()
			b.problem("section "+s.Name, err)
			if off := addr - s.Addr; off < uint64(len(data)) {
				return data[off:]
			}
		}
	}
	return nil
}

// hasCode tells whether the file has the bytes of its code.
func (b *elfBinary) hasCode() bool {
	for _, r := range b.ExecRanges() {
		if len(b.code(r.Start)) > 0 {
			return true
		}
	}
	return false
}

// atEnd is a Check that runs at the end, if there is a binary.
func atEnd(p *Pass, end func()) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	return nil, func() {
		if !p.otherBinary {
			end()
		}
	}
}

func checkModuleID(p *Pass) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	told := false
	return func(r *symfmt.Record) {
		if told {
			return // a second MODULE is SYM103's
		}
		told = true
		want, what := p.binary.moduleID()
		if want == "" {
			p.binary.problem("MODULE id", errNoID)
			return
		}
		if !strings.EqualFold(want, p.DebugID) {
			p.Report(r, 3, "MODULE id %q is not the binary's: its %s gives %s; nothing else is compared", p.DebugID, what, want)
			p.otherBinary = true
		}
	}, nil
}

// moduleID is the id that a symbol file of the binary has in MODULE, and what it
// was made of; "" without.
func (b *elfBinary) moduleID() (id, what string) {
	raw, what := b.BuildID(), "build-id"
	if raw == nil {
		raw, what = b.TextHash(), "hash of .text, as it has no build-id,"
	}
	if raw == nil {
		return "", ""
	}
	return elfobj.ModuleID(raw, b.Order), what
}

type idError string

func (e idError) Error() string { return string(e) }

const errNoID = idError("there is neither a build-id nor a .text to make one of")

func checkModuleCPU(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		if !p.HasModule {
			return
		}
		if cpu := arch.ByELF(p.binary.Machine, p.binary.Class); cpu != nil && p.Arch != cpu && !sameFamily(cpu, p.CPU) {
			p.ReportLine(1, "MODULE is for CPU %q, the binary for %s", p.CPU, cpu.Name)
		}
		switch strings.ToLower(p.OS) {
		case "windows", "mac", "ios":
			p.ReportLine(1, "MODULE is for %s, whose binaries are not ELF", p.OS)
		}
	})
}

// sameFamily is for Breakpad's names, which do not tell the size of a word.
func sameFamily(cpu *arch.Arch, name string) bool {
	return cpu.Name == name+"64" && (name == "mips" || name == "riscv") || cpu.Name == name+"x" && name == "s390"
}

func checkStorePath(p *Pass) (func(*symfmt.Record), func()) {
	return nil, func() {
		name, id, ok := storePlace(p.Options.StorePath, true)
		if !ok {
			name, id, ok = storePlace(p.Options.File, false)
		}
		if !ok || !p.HasModule {
			return
		}
		if !strings.EqualFold(id, p.DebugID) {
			p.ReportLine(1, "stored under id %q, MODULE has %q", id, p.DebugID)
		}
		if base := p.Name[strings.LastIndexAny(p.Name, `/\`)+1:]; name != base {
			p.ReportLine(1, "stored under name %q, MODULE has %q", name, base)
		}
	}
}

// storePlace takes NAME and ID out of NAME/ID/NAME.sym. Unless it is sure that
// the path is one of a store, ID must look like one and NAME be there twice.
func storePlace(path string, sure bool) (name, id string, ok bool) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	if len(parts) < 3 {
		return "", "", false
	}
	parts = parts[len(parts)-3:]
	name, id = parts[0], parts[1]
	if sure {
		return name, id, true
	}
	stem, isSym := cutSym(parts[2])
	if !isSym || len(id) < 33 || len(id) > 40 || strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return "", "", false
	}
	return name, id, name == stem || strings.EqualFold(name, stem+".pdb")
}

// cutSym takes the extension of a symbol file away.
func cutSym(name string) (stem string, ok bool) {
	for _, ext := range []string{".sym", ".sym.gz", ".sym.zst"} {
		if stem, ok = strings.CutSuffix(name, ext); ok {
			return stem, true
		}
	}
	return name, false
}

func checkBinary(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		b := p.binary
		if len(b.ExecRanges()) > 0 && !b.hasCode() {
			p.ReportLine(0, "the binary is a separate debug file or has lost its code: symbols were compared, instructions and .eh_frame_hdr were not")
		}
		for _, text := range b.problems {
			p.ReportLine(0, "%s", text)
		}
	})
}

// also adds a finding of another rule than the one that runs, if that is checked.
func (p *Pass) also(id string, line int, format string, args ...any) {
	was := p.rule
	if p.turn(id) {
		p.ReportLine(line, format, args...)
	}
	p.rule = was
}

// turn makes another rule the one that runs; false if it is not checked.
func (p *Pass) turn(id string) bool {
	i := slices.IndexFunc(p.Options.Rules, func(r *Rule) bool { return r.ID == id })
	if i >= 0 {
		p.rule = p.Options.Rules[i]
	}
	return i >= 0
}
