package elfcore

import (
	"bytes"

	"github.com/symtool/symtool/walk/dump"
)

// programName returns the path by which the program was started, or else its first argument or its
// short name.
func (r *reader) programName() string {
	if at, ok := r.aux(atExecFn); ok {
		if name, ok := r.cstring(at, maxPath); ok && name != "" {
			return name
		}
	}
	if args := r.d.Process.Args; len(args) > 0 {
		return args[0]
	}
	return r.d.Process.Name
}

// programWithoutHeader guesses where the program is if its header was left out: from the page of
// its program headers up to the first gap.
func (r *reader) programWithoutHeader(name string) (dump.Module, bool) {
	phdr, ok := r.aux(atPHdr)
	if !ok {
		return dump.Module{}, false
	}
	base := phdr &^ (headPage - 1)
	end := base
	for i := mapFrom(r.d.Maps, base); i < len(r.d.Maps); i++ {
		m := &r.d.Maps[i]
		if m.Addr > end+headPage {
			break
		}
		end = last(m.Range) + 1
	}
	return dump.Module{Range: dump.Range{Addr: base, Size: end - base}, Path: name, DebugFile: baseName(name)}, end > base
}

// findMain finds the program itself: the module with its program headers or, failing that, its
// entry point.
func (r *reader) findMain() {
	for _, key := range []uint64{atPHdr, atEntry} {
		if at, ok := r.aux(key); ok {
			if i := r.d.ModuleAt(at); i >= 0 {
				r.d.Main = i
				return
			}
		}
	}
}

// again reports whether the header at an address is a copy of the header of a binary that
// begins below the address and extends beyond it.
func (r *reader) again(img *image, addr uint64) bool {
	return img != nil && addr > img.base && addr-img.base < r.size(img.base, img.f) &&
		bytes.Equal(r.d.Memory.Bytes(img.base, r.headSize()), r.d.Memory.Bytes(addr, r.headSize()))
}

// adoptCopy gives a program the ids of a copy of its header, which is mapped together with the page of
// the program's data, if the program's first page was left out of the core. It reports whether the image
// is such a copy.
func (r *reader) adoptCopy(img *image, program *dump.Module) bool {
	entry, ok := r.aux(atEntry)
	bias := r.addr(program.Addr - img.f.HeaderAddr())
	if !ok || !program.Contains(img.base) || program.BuildID != nil && !bytes.Equal(program.BuildID, img.buildID) || r.addr(img.f.Entry+bias) != entry {
		return false
	}
	program.Bias = bias
	r.identify(program, img.buildID)
	return true
}

// headSize returns the size of an ELF header.
func (r *reader) headSize() int {
	if r.word == 4 {
		return 52
	}
	return 64
}
