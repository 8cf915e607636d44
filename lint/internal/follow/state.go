package follow

// frameRegs is the number of registers tracked.
const frameRegs = 16

// Indices in a frameState that are the same for all CPUs.
const (
	frameSP = 4
	frameFP = 5
)

// frameState holds the CFA's offset from each register, where known.
type frameState struct {
	known    uint16
	anchored bool
	from     uint32 // 1 + offset of the code that was followed with the state at a switch, which it may not belong to; or 0
	caller   bool   // the frame pointer has the caller's value
	saved    bool   // the caller's frame pointer is on the stack, slot below the CFA
	slot     int32
	off      [frameRegs]int32
	saves    saveFacts
}

func (s *frameState) knows(r int) bool { return r >= 0 && s.known>>r&1 != 0 }

func (s *frameState) set(r int, off int64) {
	if r < 0 {
		return
	}
	s.forget(r)
	if off != int64(int32(off)) {
		return
	}
	s.known |= 1 << r
	s.off[r] = int32(off)
}

func (s *frameState) forget(r int) {
	if r >= 0 {
		s.known &^= 1 << r
		s.caller = s.caller && r != frameFP
	}
}

// save records that the frame pointer is written to memory, at bytes below the CFA.
func (s *frameState) save(at int32) {
	if s.caller {
		s.saved, s.slot = true, at
	}
}

// restore handles a frame pointer that is read from memory. If known is true, the memory is at
// bytes below the CFA.
func (s *frameState) restore(known bool, at int32) {
	s.forget(frameFP)
	s.caller = known && s.saved && s.slot == at
}

// move adds by to a register.
func (s *frameState) move(r int, by int64) {
	if s.knows(r) {
		s.set(r, int64(s.off[r])-by)
	}
}

// copy sets dst to src + by.
func (s *frameState) copy(dst, src int, by int64) {
	if !s.knows(src) {
		s.forget(dst)
		return
	}
	s.set(dst, int64(s.off[src])-by)
}

// join keeps what both states agree on, and reports whether that is less than before.
func (s *frameState) join(o *frameState) (less bool) {
	both := s.known & o.known
	for r := range s.off {
		if both>>r&1 != 0 && s.off[r] != o.off[r] {
			both &^= 1 << r
		}
	}
	less = both != s.known || s.caller && !o.caller || s.saved && !(o.saved && o.slot == s.slot)
	s.known = both
	s.caller = s.caller && o.caller
	s.saved = s.saved && o.saved && s.slot == o.slot
	return less
}
