package symbolizer

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/symfmt"
)

// llvmPrinter prints llvm-symbolizer's styles LLVM and GNU. They differ in columns, discriminators and the empty
// line after each answer.
type llvmPrinter struct {
	s   *Symbolizer
	out *cli.Stdout
}

func (p *llvmPrinter) end() {}

func (p *llvmPrinter) header(r *request) {
	if p.s.Addresses && r.ok {
		fmt.Fprintf(p.out, "0x%x%s", r.addr, p.s.after(": "))
	}
}

func (p *llvmPrinter) footer() {
	if p.s.Style == LLVM {
		p.out.WriteByte('\n')
	}
}

func (p *llvmPrinter) code(r *request, frames []symfmt.SourceFrame) {
	p.header(r)
	if len(frames) == 0 {
		frames = make([]symfmt.SourceFrame, 1)
	}
	withoutFile(&frames[0])
	for i := range frames {
		p.frame(&frames[i], i > 0)
	}
	p.footer()
}

// withoutFile removes the line from a frame whose row refers to a file that is not in the line table, as LLVM's
// getFileLineInfoForAddress does. Lines of calls are not removed.
func withoutFile(f *symfmt.SourceFrame) {
	if f.File.Path == "" {
		f.Line, f.Column, f.Discriminator = 0, 0, 0
	}
}

func (p *llvmPrinter) frame(f *symfmt.SourceFrame, outer bool) {
	if p.s.Names != NoNames {
		if outer && p.s.Pretty {
			p.out.WriteString(" (inlined by) ")
		}
		fmt.Fprint(p.out, orUnknown(f.Name), p.s.after(" at "))
	}
	switch file := orUnknown(f.File.Path); {
	case p.s.Verbose:
		p.verbose(f, file)
		return
	case p.s.Style == LLVM:
		fmt.Fprintf(p.out, "%s:%d:%d\n", file, f.Line, f.Column)
	case f.Discriminator != 0:
		fmt.Fprintf(p.out, "%s:%d (discriminator %d)\n", file, f.Line, f.Discriminator)
	default:
		fmt.Fprintf(p.out, "%s:%d\n", file, f.Line)
	}
	p.out.WriteString(p.s.context(f.File.Path, f.Line))
}

func (p *llvmPrinter) verbose(f *symfmt.SourceFrame, file string) {
	fmt.Fprintf(p.out, "  Filename: %s\n", file)
	if f.StartLine != 0 {
		fmt.Fprintf(p.out, "  Function start filename: %s\n  Function start line: %d\n", f.StartFile.Path, f.StartLine)
	}
	if f.HasStart && p.s.Style == LLVM {
		fmt.Fprintf(p.out, "  Function start address: 0x%x\n", uint64(f.Start))
	}
	fmt.Fprintf(p.out, "  Line: %d\n  Column: %d\n", f.Line, f.Column)
	if f.Discriminator != 0 {
		fmt.Fprintf(p.out, "  Discriminator: %d\n", f.Discriminator)
	}
}

func (p *llvmPrinter) data(r *request, sym *symbol) {
	p.header(r)
	if sym == nil {
		sym = &symbol{}
	}
	fmt.Fprintf(p.out, "%s\n%d %d\n", orUnknown(sym.name), sym.addr, sym.size)
	if sym.file == "" {
		p.out.WriteString("??:?\n")
	} else {
		fmt.Fprintf(p.out, "%s:%d\n", sym.file, sym.line)
	}
	p.footer()
}

func (p *llvmPrinter) symbol(r *request, frames []symfmt.SourceFrame) {
	for i := range frames {
		p.frame(&frames[i], false)
	}
	if len(frames) == 0 {
		p.frame(&symfmt.SourceFrame{}, false)
	}
	p.footer()
}

// fail prints an answer for a failed request, as expected by the program that is waiting for it.
func (p *llvmPrinter) fail(r *request, _ string) {
	switch r.kind {
	case dataRequest:
		p.data(r, nil)
	case frameRequest:
		p.out.WriteString("??\n")
		p.footer()
	default:
		p.code(r, nil)
	}
}

func orUnknown(name string) string {
	if name == "" {
		return "??"
	}
	return name
}
