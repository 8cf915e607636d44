package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/coverage"
)

// adviseBinary lists what would be missing in the symbol file that dump writes for a binary, and how to change that.
func (d *doctor) adviseBinary(g *diagnosis) {
	b := g.Binary
	if u := b.Units; u.Total > 0 && u.Partial == u.Total {
		g.missing("binaries", "dwz moved this out of several debug files: it contains no code",
			"dump the binaries whose debug files refer to it: they find it by id or by name")
		return
	}
	if how := b.splitOff(g.File); how != "" {
		g.missing("the binary", "-gsplit-dwarf put this next to the objects of a binary: it has functions, but not their addresses", how)
		return
	}
	if !b.Code && b.DebugFile == nil {
		g.missing("the binary", "this is a separate debug file: the rules for unwinding frames are in the binary"+b.noProgram(),
			"symtool dump "+b.program("BINARY")+" "+cli.ShellWord(g.File))
	}
	if b.BuildID == "" && b.Type != "object" {
		g.missing(b.terms.ID, "the module's id is computed from its code: other programs, and stripped copies, may disagree",
			b.terms.Identify)
	}
	d.adviseDebugInfo(g)
	b.adviseSplit(g)
	b.adviseSupplement(g)
	b.adviseObjects(g)
	b.adviseCFI(g)
}

// program returns, for a command line, the program of a debug file that is read without it, or unknown.
func (b *binaryDiagnosis) program(unknown string) string {
	if b.Program == "" {
		return unknown
	}
	return cli.ShellWord(b.Program)
}

// noProgram returns the places where the program of such a debug file was looked for in vain, as the end of a
// message.
func (b *binaryDiagnosis) noProgram() string {
	if b.Program != "" || len(b.NoProgram) == 0 {
		return ""
	}
	return ", which is not at " + text.Printable(strings.Join(b.NoProgram, ", "))
}

// splitOff returns how dump reads a .dwo file, or a package of .dwo files, with the binary, or "" if the file is
// neither.
func (b *binaryDiagnosis) splitOff(file string) string {
	dwo := func(s sectionSize) bool { return strings.HasSuffix(s.Name, ".dwo") }
	switch {
	case b.Code || !slices.ContainsFunc(b.Debug, dwo) || hasSection(b.Debug, ".debug_info", ".zdebug_info"):
		return ""
	case hasSection(b.Debug, ".debug_cu_index", ".debug_tu_index"):
		return "symtool dump BINARY --dwp " + cli.ShellWord(file)
	}
	return "symtool dump BINARY --dwo-dir " + cli.ShellWord(filepath.Dir(file))
}

// adviseDebugInfo advises on binaries without functions and lines.
func (d *doctor) adviseDebugInfo(g *diagnosis) {
	b := g.Binary
	if b.database() {
		g.advisePDB()
		return
	}
	if !b.report.NoDebugInfo {
		if b.Stats.Funcs > 0 && b.Stats.Lines == 0 {
			why := "the line tables have no lines of its functions"
			switch {
			case !b.hasDebug(".debug_line", ".zdebug_line"):
				why = "there is no .debug_line"
			case g.hasProblem(".debug_line"):
				why = "no line table could be read"
			}
			g.missing("lines", why, "compile with -g or -g1, and keep .debug_line when linking and stripping")
		}
		return
	}
	why, do := "no debug information, here or in a separate file", []string(nil)
	if b.terms.ByBuildID {
		do = d.placesByID(g)
	}
	if p := b.PDB; p != nil {
		why = "no debug information here, and " + text.Printable(p.Name) + " with the id " + p.ID + " was not found"
		do = pdbPlaces(g.File, p)
	}
	why += b.notOwn()
	if b.DebugLink != "" {
		do = append(do, "symtool dump "+cli.ShellWord(g.File)+" DEBUGFILE, which the link calls "+text.Printable(b.DebugLink))
	}
	if b.Go {
		do = append(do, goFlags+", and dump before stripping")
	} else {
		do = append(do, b.terms.Debug)
	}
	g.missing("functions and lines", why, do...)
}

// placesByID returns the places and packages that provide separate debug files by build-id.
func (d *doctor) placesByID(g *diagnosis) (do []string) {
	if name := d.debianPackage(g.File); name != "" {
		do = append(do, "apt-get install "+debugPackage(name)+": the debug package of "+name+", in Debian's debug archive")
	} else if name := sonamePackage(g.File); name != "" {
		do = append(do, "on Debian, the debug package may be "+debugPackage(name)+"; find-dbgsym-packages (debian-goodies) finds it by the build-id")
	}
	if id := g.Binary.BuildID; len(id) > 2 {
		place := "DIR/.build-id/" + id[:2] + "/" + id[2:] + ".debug"
		if d.client == nil {
			do = append(do, "fetch it by the build-id: --debuginfod URL, or DEBUGINFOD_URLS")
		}
		do = append(do, "--debug-dir DIR, with "+place)
	}
	return do
}

// goFlags is advice about Go's linker, which writes functions, lines and .debug_frame together or not at all.
const goFlags = "build without -w and -s in go build's -ldflags"

// hasDebug reports whether the binary or its debug file has one of the sections.
func (b *binaryDiagnosis) hasDebug(names ...string) bool {
	return slices.ContainsFunc(b.parts(), func(c *inventory) bool { return hasSection(c.Debug, names...) })
}

// adviseSplit advises on skeleton units whose split unit is missing.
func (b *binaryDiagnosis) adviseSplit(g *diagnosis) {
	lost := b.Units.Skeletons - b.Stats.SplitUnits
	if lost <= 0 {
		return
	}
	var names []string
	for _, name := range b.Units.DwoNames {
		names = append(names, cli.ShellWord(name))
	}
	g.missing("functions and inlined calls of "+text.Count(lost, "unit"),
		fmt.Sprintf("their .dwo files were not found; there are units of %s", listed(names)),
		"--dwo-dir DIR, a folder with the .dwo files",
		"--dwp FILE, a package of them: llvm-dwp -e "+cli.ShellWord(g.File)+" -o FILE, where they are",
		"compile with -gno-split-dwarf")
}

// adviseObjects advises on the objects from which a Mach-O file without a dSYM was linked.
func (b *binaryDiagnosis) adviseObjects(g *diagnosis) {
	if lost := b.report.LostObjects; lost > 0 && !b.report.NoDebugInfo {
		g.missing("lines and inlined calls of "+text.Count(lost, "object"),
			"there is no dSYM, and objects that the file was linked from are missing or were changed since",
			"name the dSYM, or keep the objects: --dwo-dir DIR")
	}
}

// notOwn lists the files that were found where the binary's debug files are looked for but belong to another build.
func (b *binaryDiagnosis) notOwn() (list string) {
	for _, other := range b.OtherDebug {
		list += "; not its own: " + text.Printable(other)
	}
	return list
}

func (b *binaryDiagnosis) adviseSupplement(g *diagnosis) {
	parts := b.parts()
	link := parts[len(parts)-1].Supplement
	if link == nil {
		return
	}
	for _, p := range b.report.Problems {
		if errors.Is(p.Err, dwarf2sym.ErrNoSupplement) {
			g.missing("names in the supplementary file", "dwz moved them to "+text.Printable(link.Name)+", which was not found"+b.notOwn(),
				"--debug-dir DIR, with DIR/.build-id/"+strings.Join([]string{link.ID[:min(2, len(link.ID))], link.ID[min(2, len(link.ID)):]}, "/")+".debug",
				"install the debug package again: the file belongs to it")
			return
		}
	}
}

// adviseCFI advises on code without call frame information.
func (b *binaryDiagnosis) adviseCFI(g *diagnosis) {
	s := g.Symbols
	flags, keep := b.terms.UnwindMake, b.terms.UnwindKeep
	if b.Go {
		flags, keep = goFlags, "keep .debug_frame when stripping, or dump before"
	}
	unread := g.unreadCFI()
	if b.terms.UnwindElse != "" && !b.database() {
		unread = append(unread, b.terms.UnwindElse)
	}
	switch {
	case !b.Code:
	case b.Stats.CFIBlocks == 0 && b.report.ORC:
		g.missing("call frame information", ".orc_unwind, the kernel's, is not read", "configure the kernel with debug information, which has .debug_frame")
	case b.Stats.CFIBlocks+b.wins == 0 && b.Stats.CodeBytes > 0:
		why := "stacks through this module would be guessed"
		if n := b.Stats.CFIDead; n > 0 {
			why += ": " + text.Count(n, "FDE") + " are of code that the linker dropped, and there are no others"
		}
		g.missing("call frame information", why, append(unread, flags, keep)...)
	case s.Verdict != coverage.GoodForUnwinding && s.All.Total > 0:
		why := aboutCFI(s.Reasons)
		if len(s.Worst) > 0 {
			why += "; most bytes are missing in " + binfile.LargestGaps(s.Worst)
		}
		g.missing("call frame information of some code", why, append(unread, flags, "symtool dump --check-cfi counts all code; symtool lint --binary "+cli.ShellWord(g.File)+" lists the functions")...)
	}
}

// aboutCFI returns a verdict's reasons that concern missing call frame information.
func aboutCFI(reasons []string) string {
	var about []string
	for _, r := range reasons {
		if strings.Contains(r, "call frame information") && strings.Contains(r, "less than") || strings.Contains(r, "STACK CFI") {
			about = append(about, r)
		}
	}
	return strings.Join(about, "; ")
}

// unreadCFI returns advice if call frame information exists but could not be read.
func (g *diagnosis) unreadCFI() []string {
	for _, name := range []string{".pdata", ".eh_frame", ".debug_frame", ".ARM.exidx", ".sframe"} {
		if g.hasProblem(name) {
			return []string{"see the problems in " + name + " on standard error: the binary may have what they lost"}
		}
	}
	return nil
}

// hasProblem reports whether something in a section could not be read.
func (g *diagnosis) hasProblem(section string) bool {
	return slices.ContainsFunc(g.Problems, func(p cli.ProblemSummary) bool { return strings.HasPrefix(p.Section, section) })
}
