package doctor

import (
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
)

// pdbPlaces returns the places where dump looks for the PDB of a file, the same as in package debugset.
func pdbPlaces(file string, p *pdbLink) []string {
	name := text.Printable(p.Name)
	return []string{
		name + " beside the file",
		"--debug-dir DIR, with DIR/" + name + " or, as symbol servers have it, DIR/" + name + "/" + p.ID + "/" + name,
		"--symbol-url URL, a symbol server in that layout",
		"symtool dump " + cli.ShellWord(file) + " PDB",
	}
}

// advisePDB advises on a PDB without functions or lines.
func (g *diagnosis) advisePDB() {
	if g.Binary.partial {
		g.missing("functions and lines of object files", "/DEBUG:FASTLINK leaves them in the object files",
			"link with /DEBUG:FULL", "mspdbcmf.exe PDB, beside the object files, which makes a whole PDB")
		return
	}
	s := g.Binary.Stats
	if s.Lines > 0 {
		return
	}
	what := "lines"
	if s.Funcs == 0 {
		what = "functions and lines"
	}
	g.missing(what, "the PDB does not have them: link.exe /PDBSTRIPPED leaves them out", "the whole PDB, which the linker wrote beside that one",
		"compile with debug information: cl /Z7 or /Zi, clang -gcodeview")
}

// adviseAlone advises on a PDB whose binary is not available. unruled is the reason why it has no unwind rules, or ""
// if it has them.
func (g *diagnosis) adviseAlone(unruled string) {
	g.advisePDB()
	if unruled != "" {
		b := g.Binary
		g.missing("STACK CFI", unruled+b.noProgram(), "symtool dump "+b.program("BINARY")+" "+cli.ShellWord(g.File))
	}
}
