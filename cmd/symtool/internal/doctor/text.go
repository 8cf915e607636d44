package doctor

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/text"
)

// doctorText is the answer as text, for people.
type doctorText struct{ b strings.Builder }

// line writes a line in printable form, since names in it come from files.
func (t *doctorText) line(format string, args ...any) {
	t.b.WriteString(strings.TrimRight(text.Printable(fmt.Sprintf(format, args...)), " ") + "\n")
}

// entry writes a line with a name and a text, unless the text is empty.
func (t *doctorText) entry(name, format string, args ...any) {
	if text := strings.TrimSpace(fmt.Sprintf(format, args...)); text != "" {
		t.line("  %-14s%s", name, text)
	}
}

func (g *diagnosis) text() string {
	t := &doctorText{}
	switch {
	case g.Process != nil:
		t.process(g)
	case g.Binary != nil:
		t.binary(g)
	default:
		t.line("%s: symbols, %s", g.File, g.Kind)
		t.symbols(g.Symbols)
	}
	t.missing(g)
	return t.b.String()
}

func (t *doctorText) missing(g *diagnosis) {
	if n := len(g.Problems); n > 0 {
		t.line("  %s: standard error has them", text.Count(n, "problem"))
	}
	if len(g.Missing) == 0 {
		t.line("nothing is missing")
		return
	}
	for _, a := range g.Missing {
		t.line("missing: %s", a.What)
		t.line("  reason: %s", a.Why)
		for _, do := range a.Do {
			t.line("  - %s", do)
		}
	}
}

func (t *doctorText) binary(g *diagnosis) {
	b := g.Binary
	t.head(g)
	if debug := b.DebugFile; debug != nil {
		t.debugFile(debug, b)
	}
	for i, file := range b.Read {
		if i == maxListed {
			t.entry("also from", "and %d more", len(b.Read)-i)
			break
		}
		t.entry("also from", "%s", file)
	}
	t.units(b.Units)
	t.line("dump would write")
	s := b.Stats
	t.name(g)
	t.symbols(g.Symbols)
	t.entry("records", "%s", binfile.StatsLine(s))
	if s.CFISource != "" {
		t.entry("STACK CFI", "from %s", cfiOrigin(b))
	}
}

// head writes what the file itself is. A PDB without its binary is its own debug file.
func (t *doctorText) head(g *diagnosis) {
	b := g.Binary
	if b.inventory == nil {
		t.line("%s: PDB, %s", g.File, g.Symbols.Module.Arch)
		return
	}
	what := b.Type
	if !b.Code {
		what = "separate debug file (" + what + ")"
	}
	t.line("%s: %s %s, %s, %d bits, %s endian", g.File, b.Format, what, b.CPU, b.Bits, b.ByteOrder)
	if b.NoSections {
		t.entry("headers", "no section headers")
	}
	t.contents(b.inventory, b)
}

func (t *doctorText) debugFile(f *debugFileDiagnosis, b *binaryDiagnosis) {
	if f.inventory == nil {
		t.entry("debug file", "%s, a PDB, %s", f.Path, f.ID)
		return
	}
	t.entry("debug file", "%s", f.Path)
	t.contents(f.inventory, b)
}

// name writes where the name in MODULE comes from if it is a guess or differs from the
// file's name.
func (t *doctorText) name(g *diagnosis) {
	switch b := g.Binary; {
	case g.Symbols.Module == nil:
	case b.FileName != "":
		t.entry("name", "%s, %s, which crash reports ask for; --both-names also writes %s", g.Symbols.Module.Name, b.nameFrom, b.FileName)
	case b.Guessed:
		t.entry("name", "%s, after the debug file, which does not have the binary's DT_SONAME: dump the binary as well, or use --name", g.Symbols.Module.Name)
	}
}

// cfiOrigin returns the names of the sections that STACK CFI comes from.
func cfiOrigin(b *binaryDiagnosis) string {
	if b.Stats.CFISource == dwarf2sym.SourceSFrame {
		return ".sframe: rules only for the CFA, the return address and the frame pointer"
	}
	var names []string
	for _, name := range []string{".pdata", ".eh_frame", "__eh_frame", ".debug_frame", "__debug_frame", "__unwind_info", ".ARM.exidx", ".gopclntab"} {
		for _, part := range b.parts() {
			if hasSection(part.Unwind, name, strings.Replace(name, ".debug", ".zdebug", 1)) {
				names = append(names, name)
				break
			}
		}
	}
	if b.Stats.CFISource == dwarf2sym.SourceCode {
		return "its instructions"
	}
	if len(names) == 0 {
		names = append(names, b.terms.UnwindLead)
	}
	if b.Stats.CFIDerived > 0 {
		names = append(names, "its instructions")
	}
	return strings.Join(names, " and ")
}

// contents writes the contents of b or of its debug file.
func (t *doctorText) contents(c *inventory, b *binaryDiagnosis) {
	if c.PDB != nil {
		t.entry("PDB", "%s, %s", c.PDB.Name, c.PDB.ID)
	} else {
		_, id, _ := strings.Cut(b.terms.ID, " ") // after the article
		t.entry(id, "%s", c.BuildID)
	}
	if c.DebugLink != "" {
		t.entry("debug link", "%s, CRC-32 %s", c.DebugLink, c.DebugCRC)
	}
	if c.Supplement != nil {
		t.entry("supplement", "%s, %s", c.Supplement.Name, c.Supplement.ID)
	}
	t.entry("debug info", "%s", debugSizes(c.Debug))
	var unwind []string
	for _, s := range c.Unwind {
		name := s.Name
		if s.Version > 0 {
			name += fmt.Sprintf(" V%d", s.Version)
		}
		unwind = append(unwind, name+" "+text.Count(int(s.Size), "byte")+packedAs(s))
	}
	t.entry("unwinding", "%s", strings.Join(unwind, ", "))
	var tables []string
	for _, s := range c.Symbols {
		tables = append(tables, fmt.Sprintf("%s %d (%s)", s.Table, s.Symbols, text.Count(s.Functions, "function")))
	}
	t.entry("symbols", "%s", strings.Join(tables, ", "))
}

// packedAs describes the compression of a section.
func packedAs(s sectionSize) string {
	if s.Compression == "" {
		return ""
	}
	return fmt.Sprintf(" (%s, %d in the file)", s.Compression, s.FileSize)
}

// debugSizes returns the total size of the debug sections, and their compression.
func debugSizes(list []sectionSize) string {
	var size int64
	var packed uint64
	how := map[string]bool{}
	var names []string
	for _, s := range list {
		size += s.Size
		packed += s.FileSize
		if s.Compression != "" && !how[s.Compression] {
			how[s.Compression] = true
			names = append(names, s.Compression)
		}
	}
	switch {
	case len(list) == 0:
		return "none"
	case len(names) > 0:
		return fmt.Sprintf("%s, %s (%s, %d in the file)", text.Count(len(list), "section"), text.Count(int(size), "byte"), strings.Join(names, " and "), packed)
	}
	return text.Count(len(list), "section") + ", " + text.Count(int(size), "byte")
}

// maxProducer is how much of a producer's options a line shows, and maxProducers how many
// producers are shown. JSON has everything.
const (
	maxProducer  = 90
	maxProducers = 5
)

func (t *doctorText) units(u *dwarf2sym.Units) {
	if u.Total == 0 {
		return
	}
	text := text.Count(u.Total, "unit") + ", " + counted(u.Versions)
	if u.Skeletons > 0 {
		text += fmt.Sprintf("; %d split", u.Skeletons)
	}
	if u.Partial > 0 {
		text += fmt.Sprintf("; %d shared, of dwz", u.Partial)
	}
	if u.Unread > 0 {
		text += fmt.Sprintf("; %d damaged", u.Unread)
	}
	t.entry("units", "%s", text)
	t.entry("languages", "%s", counted(u.Languages))
	for i, p := range u.Producers {
		if i == maxProducers {
			t.entry("producer", "and %d more", len(u.Producers)-i)
			break
		}
		name := p.Name
		if len(name) > maxProducer {
			name = name[:maxProducer] + "..."
		}
		t.entry("producer", "%s (%d)", name, p.Units)
	}
}

func counted(list []dwarf2sym.UnitCount) string {
	var names []string
	for _, c := range list {
		names = append(names, fmt.Sprintf("%s (%d)", c.Name, c.Units))
	}
	return strings.Join(names, ", ")
}

func (t *doctorText) symbols(s *symbolDiagnosis) {
	if m := s.Module; m != nil {
		t.entry("module", "%s %s %s %s", m.OS, m.Arch, m.ID, m.Name)
	}
	verdict := string(s.Verdict)
	if len(s.Reasons) > 0 {
		verdict += ": " + strings.Join(s.Reasons, "; ")
	}
	t.entry("verdict", "%s", verdict)
	if s.Errors+s.Warnings > 0 {
		t.entry("lint", "%s, %s", text.Count(s.Errors, "error"), text.Count(s.Warnings, "warning"))
	}
	if s.Functions > 0 {
		t.entry("code", "%s of functions' bytes have lines, %s of the code has call frame information", s.LineShare, cmp.Or(s.CallFrames, "an unknown share"))
	} else if s.CallFrames != "" {
		t.entry("code", "%s of the code has call frame information", s.CallFrames)
	}
}

// noID stands for the id of a module without one. Most ids have idWidth digits.
const (
	noID    = "no id"
	idWidth = 33
)

func (t *doctorText) process(g *diagnosis) {
	p := g.Process
	t.line("%s: %s, %s, %s", g.File, p.Format, p.System, p.CPU)
	t.entry("crash", "%s", p.Reason)
	t.entry("contents", "%s, %s of memory, %s", text.Count(p.Threads, "thread"), text.Count(int(p.Memory), "byte"), text.Count(len(p.Modules), "module"))
	width := idWidth
	for i := range p.Modules {
		width = max(width, len(p.Modules[i].DebugID))
	}
	for _, m := range p.Modules {
		state := "missing"
		switch {
		case m.Symbols != "":
			state = m.Symbols
		case m.Here:
			state = "binary here"
		}
		t.entry(state, "%-*s %s", width, cmp.Or(m.DebugID, noID), m.Path)
		if m.Deleted {
			t.line("      the file was deleted or replaced while the process ran")
		}
		if len(m.Lacks) > 0 {
			t.line("      without %s", strings.Join(m.Lacks, ", "))
		}
		if m.Stored != "" {
			t.line("      %s: found by the id; Breakpad's and rust-minidump's walkers ask for %s", m.Stored, m.Asked)
		}
		if m.ByPath != "" {
			t.line("      %s", m.ByPath)
		}
		for _, tried := range m.Tried {
			t.line("      %s", tried)
		}
	}
}
