package machobj

// Load commands state more than once where things are. Contradictions are the only sign of some kinds of damage,
// which would cost code and debug information, or move them.

const textSegment = "__TEXT"

// checkPlaces reports contradictions between load commands.
func (f *File) checkPlaces() {
	hasText := f.fileType == typeObject || f.fileType == typeDSYM || f.inSet > 0
	for _, s := range f.segments {
		hasText = hasText || s.name == textSegment
	}
	if !hasText {
		f.lost("code, and addresses", f.errorf(0, "no segment %s", textSegment))
	}
	var first, before *section
	wrong := 0
	for _, s := range f.sections {
		behind := before == nil || f.fileType == typeObject || s.follows(before)
		if before = s; behind && s.inMemory() && (!f.storesAll(s) || s.inPlace()) {
			continue
		}
		if wrong++; first == nil {
			first = s
		}
	}
	if first == nil {
		return
	}
	seg := first.segment
	f.lost("what is in these sections", f.errorf(0,
		"%d of %d sections are outside of their segments, or over others: the first is %s, %#x bytes at %#x (%#x of the file), of the segment %s, %#x bytes at %#x (%#x bytes at %#x of the file)",
		wrong, len(f.sections), first.Name, first.MemSize, first.Addr, first.offset, seg.name, seg.size, seg.addr, seg.stored, seg.offset))
}

// follows reports whether a section does not overlap the one before it. Linkers sort sections by address.
func (s *section) follows(before *section) bool {
	return before.segment != s.segment || s.MemSize == 0 || s.Addr >= before.Addr && s.Addr-before.Addr >= before.MemSize
}

// inMemory reports whether a section lies in the memory of its segment. Go's linker gives __DWARF no memory.
func (s *section) inMemory() bool {
	seg := s.segment
	at := s.Addr - seg.addr
	return seg.size == 0 || s.Addr >= seg.addr && at <= seg.size && s.MemSize <= seg.size-at
}

// storesAll reports whether a section that has bytes in the file must have them there together with the rest of
// its segment.
func (f *File) storesAll(s *section) bool {
	return !s.zeroed() && s.MemSize > 0 && s.offset != 0 && s.segment.stored > 0 && f.fileType != typeStub &&
		(f.fileType != typeDSYM || s.segment.name == "__DWARF")
}

// inPlace reports whether a section is at the same distance from the start of its segment in the file as in
// memory.
func (s *section) inPlace() bool {
	seg := s.segment
	at := uint64(s.offset) - seg.offset
	return uint64(s.offset) >= seg.offset && at == s.Addr-seg.addr && at <= seg.stored && s.MemSize <= seg.stored-at
}
