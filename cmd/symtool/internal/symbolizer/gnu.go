package symbolizer

import (
	"fmt"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/symfmt"
)

// gnuPrinter prints the output of GNU binutils' addr2line.
type gnuPrinter struct {
	s   *Symbolizer
	out *cli.Stdout
}

func (p *gnuPrinter) end() {}

func (p *gnuPrinter) code(r *request, frames []symfmt.SourceFrame) {
	if p.s.Addresses {
		digits := 16
		if m := p.s.opened(r); m != nil && m.file.AddrSize == 4 {
			digits = 8
		}
		fmt.Fprintf(p.out, "0x%0*x%s", digits, r.addr, p.s.after(": "))
	}
	if len(frames) == 0 {
		if p.s.Names != NoNames {
			fmt.Fprint(p.out, "??", p.s.after(" "))
		}
		p.out.WriteString("??:0\n")
		return
	}
	// The discriminator of the innermost frame is printed with every frame.
	discriminator := frames[0].Discriminator
	for i := range frames {
		if i > 0 && p.s.Pretty {
			p.out.WriteString(" (inlined by) ")
		}
		p.frame(&frames[i], discriminator)
	}
}

func (p *gnuPrinter) frame(f *symfmt.SourceFrame, discriminator uint32) {
	if p.s.Names != NoNames {
		fmt.Fprint(p.out, orUnknown(f.Name), p.s.after(" at "))
	}
	fmt.Fprintf(p.out, "%s:", orUnknown(f.File.Path))
	switch {
	case f.Line == 0:
		p.out.WriteString("?\n")
	case discriminator != 0:
		fmt.Fprintf(p.out, "%d (discriminator %d)\n", f.Line, discriminator)
	default:
		fmt.Fprintf(p.out, "%d\n", f.Line)
	}
}

// data is never called: addr2line has no such request.
func (p *gnuPrinter) data(r *request, _ *symbol) { p.code(r, nil) }

func (p *gnuPrinter) symbol(r *request, frames []symfmt.SourceFrame) { p.code(r, frames) }

func (p *gnuPrinter) fail(r *request, _ string) { p.code(r, nil) }
