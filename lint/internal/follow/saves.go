package follow

// maxSaves is the number of the caller's registers that are tracked, including the return address.
const maxSaves = 12

// saveWord is the size of a register, in bytes.
const saveWord = 8

// saveFacts records, with one bit for each register of CPU.saves, where the caller's value of the
// register is. If a register is in none of the sets, the location is unknown.
type saveFacts struct {
	keep  uint16          // in the register itself
	lost  uint16          // nowhere: the register was definitely overwritten
	saved uint16          // on the stack, slot words below the CFA
	many  uint16          // also elsewhere: in another register or a second slot
	slot  [maxSaves]int16 // words below the CFA
}

// noSave is the index of a register that is not in CPU.saves.
const noSave = -1

// forget drops what is known about a register.
func (f *saveFacts) forget(k int) {
	if k >= 0 {
		f.keep &^= 1 << k
		f.lost &^= 1 << k
	}
}

// write handles a register that is overwritten. If it was saved elsewhere, the write may restore
// its value.
func (f *saveFacts) write(k int) {
	if f.forget(k); k >= 0 && f.many>>k&1 == 0 {
		f.lost |= 1 << k
	}
}

// elsewhere handles a register that is copied to a location that is not tracked.
func (f *saveFacts) elsewhere(k int) {
	if k >= 0 && f.keep>>k&1 != 0 {
		f.many |= 1 << k
	}
}

// load handles a register that is read from memory. If known is true, the memory is at bytes below
// the CFA.
func (f *saveFacts) load(k int, known bool, at int64) {
	f.forget(k)
	if k < 0 || !known || f.saved&^f.many>>k&1 == 0 {
		return
	}
	if int64(f.slot[k])*saveWord == at {
		f.keep |= 1 << k
	} else {
		f.lost |= 1 << k
	}
}

// store handles a register that is written to memory. If known is true, the memory is at bytes
// below the CFA. Memory known to be below the stack pointer does not count as a second location.
func (s *frameState) store(k int, known bool, at int64) {
	if k < 0 {
		return
	}
	f := &s.saves
	bit := uint16(1) << k
	if f.keep&bit == 0 {
		if known && f.saved&bit != 0 && int64(f.slot[k])*saveWord == at {
			f.saved &^= bit
			f.many |= bit
		}
		return
	}
	slot := at / saveWord
	if !known || at%saveWord != 0 || slot != int64(int16(slot)) {
		f.many |= bit
		return
	}
	below := s.knows(frameSP) && int64(f.slot[k])*saveWord > int64(s.off[frameSP])
	if f.saved&bit != 0 && int64(f.slot[k]) != slot && !below {
		f.many |= bit
	}
	f.saved |= bit
	f.slot[k] = int16(slot)
}
