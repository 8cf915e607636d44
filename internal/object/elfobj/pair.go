package elfobj

import (
	"bytes"
	"debug/elf"

	"github.com/symtool/symtool/internal/object"
)

// CheckDebug implements object.DebugChecker: debug cannot be the separate debug file of f if it is for another
// processor, has another build-id or, if one of them has no build-id, has code of another size.
func (f *File) CheckDebug(other *object.File) error {
	debug := Of(other)
	if debug == nil {
		return object.OtherContainer(f.Path, other)
	}
	if err := checkKind(f, debug); err != nil {
		return err
	}
	want, got := f.BuildID(), debug.BuildID()
	same := len(want) > 0 && bytes.Equal(want, got)
	if len(want) > 0 && len(got) > 0 && !same {
		return object.OtherBuild(debug.Path, got, want)
	}
	for _, p := range codePairs(f, debug) {
		if !same && p.f.FileSize != p.debug.FileSize {
			return debug.errorf(0, "%s of %d bytes, want %d", p.debug.label(), p.debug.FileSize, p.f.FileSize)
		}
	}
	_, err := f.Moved(other)
	return err
}

// checkKind compares what the two headers say about the processor.
func checkKind(f, debug *File) error {
	if (f.Type == elf.ET_REL) != (debug.Type == elf.ET_REL) {
		const typeAt = 16 // e_type
		return debug.errorf(typeAt, "a file of type %v, want %v", debug.Type, f.Type)
	}
	if f.Machine == debug.Machine && f.Class == debug.Class && f.Order == debug.Order {
		return nil
	}
	return debug.errorf(0, "for %v (%v, %v), want %v (%v, %v)",
		debug.Machine, debug.Class, debug.Order, f.Machine, f.Class, f.Order)
}

// Moved implements object.Container: it returns the difference, modulo 2^64, between the address of code in f and
// the address of the same code in debug. It is 0 unless one of the two was moved after they were separated: by
// prelink, or by "objcopy --change-addresses". It compares sections with code or, if the files have none in
// common, the first segments with code, if their sizes are equal. If parts of the code moved by different
// amounts, it returns a *bin.Error about debug.
func (f *File) Moved(other *object.File) (uint64, error) {
	debug := Of(other)
	if debug == nil {
		return 0, object.OtherContainer(f.Path, other)
	}
	var first *codePair
	for _, p := range codePairs(f, debug) {
		if first == nil {
			first = &p
		}
		if want := first.delta(); p.delta() != want {
			return 0, debug.errorf(0, "layout of code differs from %s: %s is moved by %#x bytes, %s by %#x",
				f.Path, first.debug.label(), want, p.debug.label(), p.delta())
		}
	}
	if first != nil {
		return first.delta(), nil
	}
	a, b := f.codeSegment(), debug.codeSegment()
	if a == nil || b == nil || a.MemSize != b.MemSize {
		return 0, nil
	}
	return a.Addr - b.Addr, nil
}

// codePair is a section with code as it is in both files.
type codePair struct{ f, debug *Section }

func (p codePair) delta() uint64 { return p.f.Addr - p.debug.Addr }

// codePairs pairs the sections with code by name; if several share a name, the
// first is paired with the first, and so on.
func codePairs(f, debug *File) (out []codePair) {
	byName := map[string][]*Section{}
	for _, s := range debug.Sections {
		if s.IsCode() {
			byName[s.Name] = append(byName[s.Name], s)
		}
	}
	for _, s := range f.Sections {
		if others := byName[s.Name]; s.IsCode() && len(others) > 0 {
			out = append(out, codePair{s, others[0]})
			byName[s.Name] = others[1:]
		}
	}
	return out
}

// codeSegment returns the first segment with code, or nil.
func (f *File) codeSegment() *Segment {
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			return p
		}
	}
	return nil
}
