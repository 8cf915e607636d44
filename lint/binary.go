package lint

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/lint/extent"
	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/lint/follow"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// The rules of this family compare a symbol file with its binary. They take the binary's headers,
// symbol tables, .eh_frame_hdr, .sframe and instructions, and never the dumper's output.

// elfBinary is the state that rules share about the binary.
type elfBinary struct {
	*object.File
	base uint64
	rows *follow.Table // nil until the first STACK CFI INIT
	mini *object.File
	all  []execcode.Part // nil until parts
	data []extent.Extent // in code, by symbols; nil until dataSymbols
	// problems are parts that could not be read: one message each.
	problems []string
	done     bool

	compared, followed bool // looked at by one of the rules that share a look
}

func openBinary(f *object.File) *elfBinary { return &elfBinary{File: f, base: f.Base} }

// problem notes a part that could not be read.
func (b *elfBinary) problem(what string, err error) {
	if err == nil {
		return
	}
	if text := what + ": " + err.Error(); !slices.Contains(b.problems, text) {
		b.problems = append(b.problems, text)
	}
}

// parts are the sections with code, or the segments of a file without sections.
func (b *elfBinary) parts() []execcode.Part {
	if b.all == nil {
		b.all = execcode.Parts(b.File)
	}
	return b.all
}

// dataSymbols are the pieces of code that symbols declare to be data.
func (b *elfBinary) dataSymbols() []extent.Extent {
	if b.data == nil {
		list, err := execcode.Data(b.File)
		b.problem("symbols", err)
		b.data = make([]extent.Extent, 0, len(list))
		for _, r := range list {
			b.data = append(b.data, extent.Between(b.rva(r.Start), b.rva(r.End)))
		}
	}
	return b.data
}

// see adds a record of STACK CFI.
func (b *elfBinary) see(r *symfmt.Record, facts *facts.Rows, cpu *arch.Arch) {
	switch {
	case r.Kind == symfmt.KindCFIInit && b.rows == nil:
		b.rows = follow.NewTable(cpu)
	case r.Kind != symfmt.KindCFIInit && (r.Kind != symfmt.KindCFI || r.Owner != symfmt.OwnerRead):
		return
	}
	set := facts.Set
	if set.Changes == nil {
		rules, _ := facts.Sets.Rules.Rules(set.ID)
		set.Changes = b.rows.Changes(rules)
	}
	b.rows.Add(r, set.Changes)
}

// ready sorts the rows, once.
func (b *elfBinary) ready() *follow.Table {
	if !b.done {
		if b.rows == nil {
			b.rows = follow.NewTable(nil)
		}
		b.rows.Finish()
		b.done = true
	}
	return b.rows
}

// rva converts an address of the binary to one of the symbol file.
func (b *elfBinary) rva(addr uint64) symfmt.RVA { return symfmt.RVA(addr - b.base) }

func (b *elfBinary) addr(rva symfmt.RVA) uint64 { return uint64(rva) + b.base }

// code returns the bytes of the binary's code at an address up to the end of their section, nil
// outside of code.
func (b *elfBinary) code(addr uint64) []byte {
	parts := b.parts()
	i, _ := slices.BinarySearchFunc(parts, addr, func(p execcode.Part, addr uint64) int {
		if p.End <= addr {
			return -1
		}
		return 1
	})
	if i == len(parts) || addr < parts[i].Start {
		return nil
	}
	data, err := parts[i].Bytes()
	b.problem("section "+parts[i].Name, err)
	return data[min(addr-parts[i].Start, uint64(len(data))):]
}

// hasCode reports whether the file has the bytes of its code.
func (b *elfBinary) hasCode() bool { return len(b.parts()) > 0 }

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

// sharedAtEnd is atEnd for rules that share one look at the binary. The first of them that is
// enabled takes it, and done records that. The look assigns each finding to its rule by turn or
// also.
func sharedAtEnd(p *Pass, done func(*elfBinary) *bool, look func()) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		if d := done(p.binary); !*d {
			*d = true
			look()
		}
	})
}

func checkModuleID(p *Pass) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	reported := false
	return func(r *symfmt.Record) {
		if reported {
			return // SYM103 reports a second MODULE
		}
		reported = true
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

// moduleID returns the id that MODULE has in a symbol file of the binary, and what it was made of;
// "" without.
func (b *elfBinary) moduleID() (id, what string) {
	raw, what := b.BuildID(), "build-id"
	if raw == nil {
		raw, what = b.ContentID(), "hash of .text, as it has no build-id,"
	}
	if raw == nil {
		return "", ""
	}
	return b.ModuleID(raw), what
}

type idError string

func (e idError) Error() string { return string(e) }

const errNoID = idError("there is neither a build-id nor a .text to make one of")

func checkModuleCPU(p *Pass) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	reported := false
	return func(r *symfmt.Record) {
		if reported || p.otherBinary {
			return
		}
		reported = true
		if cpu := p.binary.Arch; cpu != nil && p.Arch != cpu && !sameFamily(cpu, p.CPU) {
			p.Report(r, 2, "MODULE is for CPU %q, the binary for %s", p.CPU, cpu.Name)
		}
		switch strings.ToLower(p.OS) {
		case "windows", "mac", "ios":
			p.Report(r, 1, "MODULE is for %s, whose binaries are not ELF", p.OS)
		}
	}, nil
}

func checkModuleName(p *Pass) (func(*symfmt.Record), func()) {
	if p.binary == nil {
		return nil, nil
	}
	seen := false
	return func(r *symfmt.Record) {
		if seen || p.otherBinary {
			return
		}
		seen = true
		want, err := p.binary.Name()
		p.binary.problem("MODULE name", err)
		if want == "" || want == BaselineName(p.Name) || p.Options.Stored != nil && p.Options.Stored(want) {
			return
		}
		p.Report(r, 4, "MODULE name %q is not the binary's DT_SONAME, %q, by which walkers of crash reports ask for symbols: dump again, or convert --rename-module",
			p.Name, want)
	}, nil
}

// sameFamily is for Breakpad's names that leave the word size open.
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

// storePlace extracts NAME and ID from NAME/ID/NAME.sym. Unless the path is known to be in a store,
// ID must look like an id and NAME occur twice.
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

// cutSym removes the extension of a symbol file.
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

// also adds a finding of another rule than the current one, if that rule is enabled.
func (p *Pass) also(id string, line int, format string, args ...any) {
	was := p.rule
	if p.turn(id) {
		p.ReportLine(line, format, args...)
	}
	p.rule = was
}

// turn makes another rule the current one; false if it is not enabled.
func (p *Pass) turn(id string) bool {
	i := slices.IndexFunc(p.Options.Rules, func(r *Rule) bool { return r.ID == id })
	if i >= 0 {
		p.rule = p.Options.Rules[i]
	}
	return i >= 0
}
