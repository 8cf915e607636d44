package symbolizer

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/dump"
)

// shownModule is a module in the form in which elfutils lists it.
type shownModule struct {
	dump.Range
	name        string
	file, debug string // "" for none
	inFile      bool   // the debug information is in the file
	own         uint64 // the address of the build-id, or 0
}

// shown returns a module in the form in which it is listed.
func (p *stackPrinter) shown(i int) (out shownModule) {
	m := &p.dump.Modules[i]
	out.Range, out.name = p.dump.MappedRange(m), p.fileOf(i)
	if at := p.dump.MappingAt(m.Addr); at != nil && at.Path == "[vdso]" {
		out.Range, out.name = at.Range, fmt.Sprintf("[vdso: %d]", p.dump.Process.ID)
		if i := bytes.Index(p.dump.Memory.Bytes(at.Addr, int(min(at.Size, maxVDSO))), m.BuildID); i > 0 && len(m.BuildID) > 0 {
			out.own = at.Addr + uint64(i)
		}
		return out
	}
	t := p.symbolsOf(i)
	if t.symbols == nil {
		return out
	}
	id := t.symbols.Identity()
	out.file, out.debug = id.Path, id.DebugPath
	out.inFile = out.debug == "" && t.symbols.Detail(p.ctx) == resolve.LineDetail
	if f, err := objfile.Open(id.Path, object.DefaultLimits()); err == nil { // it has been opened before
		if s := f.Section(".note.gnu.build-id"); s != nil {
			out.own = s.Addr - t.base + m.Addr + noteHeader
		}
		f.Close()
	}
	return out
}

// maxVDSO is the maximum size in bytes of the memory that is searched for the build-id of the vDSO.
const maxVDSO = 1 << 20

// noteHeader is the size in bytes of what precedes the build-id in its section: three words and "GNU\0".
const noteHeader = 16

// module prints a module as eu-stack -l does.
func (p *stackPrinter) module(i int) {
	s, id := p.shown(i), p.dump.Modules[i].BuildID
	fmt.Fprintf(p.out, "%s-%s %s\n", p.address(s.Addr), p.address(s.Addr+s.Size), p.dump.System.OS.Base(s.name))
	if len(id) > 0 {
		fmt.Fprintf(p.out, "  [%x]\n", id)
	}
	fmt.Fprintf(p.out, "  %s\n", cmp.Or(s.file, "-"))
	if s.debug != "" || s.inFile {
		fmt.Fprintf(p.out, "  %s\n", cmp.Or(s.debug, "-"))
	}
}

// moduleLine prints a module as eu-unstrip -n does.
func (p *stackPrinter) moduleLine(i int) {
	s, id := p.shown(i), "-"
	if own := p.dump.Modules[i].BuildID; len(own) > 0 {
		id = fmt.Sprintf("%x", own)
		if s.own != 0 {
			id += fmt.Sprintf("@%#x", s.own)
		}
	}
	debug := cmp.Or(s.debug, "-")
	if s.inFile {
		debug = "."
	}
	fmt.Fprintf(p.out, "%#x+%#x %s %s %s %s\n", s.Addr, s.Size, id, cmp.Or(s.file, "."), debug, s.name)
}
