package binary

import (
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// withBinary returns a check that runs at the end, if there is a binary and it belongs to the file.
func withBinary(compare func(p *check.Pass, b *check.Image)) check.Func {
	return check.AtEnd(func(p *check.Pass) {
		if b := p.Image; b != nil && !b.Other {
			compare(p, b)
		}
	})
}

// sharedWithBinary is like withBinary, for rules that share one look at the binary; see
// check.SharedAtEnd.
func sharedWithBinary(look func(p *check.Pass, b *check.Image)) check.Func {
	return check.SharedAtEnd(func(p *check.Pass) {
		if b := p.Image; b != nil && !b.Other {
			look(p, b)
		}
	})
}

func checkModuleID(p *check.Pass) (func(*symfmt.Record), func()) {
	b := p.Image
	if b == nil {
		return nil, nil
	}
	reported := false
	return func(r *symfmt.Record) {
		if reported {
			return // SYM103 reports a second MODULE
		}
		reported = true
		want, what := b.DebugID()
		if want == "" {
			b.Problem("MODULE id", errNoID)
			return
		}
		if !strings.EqualFold(want, p.DebugID) {
			p.Report(r, 3, "MODULE id %q is not the binary's: its %s gives %s; nothing else is compared", p.DebugID, what, want)
			b.Other = true
		}
	}, nil
}

type idError string

func (e idError) Error() string { return string(e) }

const errNoID = idError("there is neither a build-id nor code to make one from")

func checkModuleCPU(p *check.Pass) (func(*symfmt.Record), func()) {
	b := p.Image
	if b == nil {
		return nil, nil
	}
	reported := false
	return func(r *symfmt.Record) {
		if reported || b.Other {
			return
		}
		reported = true
		if cpu := b.Arch; cpu != nil && p.Arch != cpu && !sameFamily(cpu, p.CPU) {
			p.Report(r, 2, "MODULE is for CPU %q, the binary for %s", p.CPU, cpu.Name)
		}
		switch own := strings.ToLower(p.OS); {
		case own == b.OS:
		case ownContainer[own] != "":
			p.Report(r, 1, "MODULE is for %s, whose binaries are not %s", p.OS, b.Format)
		case ownContainer[b.OS] != "":
			p.Report(r, 1, "MODULE is for %s, the binary for %s", p.OS, ownContainer[b.OS])
		}
	}, nil
}

func checkModuleName(p *check.Pass) (func(*symfmt.Record), func()) {
	b := p.Image
	if b == nil {
		return nil, nil
	}
	seen := false
	return func(r *symfmt.Record) {
		if seen || b.Other {
			return
		}
		seen = true
		want, err := b.Name()
		b.Problem("MODULE name", err)
		if want == "" || want == text.Base(p.Name) || p.Options.Stored != nil && p.Options.Stored(want) {
			return
		}
		p.Report(r, 4, "MODULE name %q is not the binary's %s, %q, by which walkers of crash reports ask for symbols: dump again, or convert --rename-module",
			p.Name, b.NameFrom, want)
	}, nil
}

// ownContainer maps the systems, as in MODULE, whose binaries have a container format that no other
// system uses to their names. Binaries of all other systems are ELF.
var ownContainer = map[string]string{"windows": "Windows", "mac": "macOS", "ios": "iOS"}

// sameFamily reports whether name is Breakpad's name for cpu that leaves the word size open.
func sameFamily(cpu *arch.Arch, name string) bool {
	return cpu.Name == name+"64" && (name == "mips" || name == "riscv") || cpu.Name == name+"x" && name == "s390"
}

func checkStorePath(p *check.Pass) {
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
	if base := text.Base(p.Name); name != base {
		p.ReportLine(1, "stored under name %q, MODULE has %q", name, base)
	}
}

// storePlace extracts NAME and ID from NAME/ID/NAME.sym. Unless sure is true, so that the path is
// known to be in a store, ID must look like an id and NAME must occur twice.
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

func checkBinary(p *check.Pass, b *check.Image) {
	if len(b.ExecRanges()) > 0 && !b.HasCode() {
		p.ReportLine(0, "the binary is a separate debug file or has lost its code: symbols were compared, instructions and .eh_frame_hdr were not")
	}
	for _, text := range b.Problems {
		p.ReportLine(0, "%s", text)
	}
}
