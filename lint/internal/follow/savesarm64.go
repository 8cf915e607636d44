package follow

// saveOfARM64 returns the index in frameARM64.saves of register n.
func saveOfARM64(n uint32) int {
	switch n &= 31; {
	case n == 30:
		return 0
	case n >= 19 && n < 30:
		return int(n) - 18
	}
	return noSave
}

// savesARM64 updates the facts about the caller's registers with the effect of an instruction. s is
// the state before the instruction.
func savesARM64(in uint32, s *frameState) {
	rd := saveOfARM64(in)
	switch in >> 25 & 15 {
	case 0b1000, 0b1001:
		s.saves.write(rd)
	case 0b1010, 0b1011:
		if in>>20 == 0xd53 { // mrs
			s.saves.forget(rd)
		}
	case 0b0100, 0b0110, 0b1100, 0b1110:
		memorySavesARM64(in, s)
	case 0b0101, 0b1101:
		if in>>21 == 0b10101010000 { // mov: orr
			s.saves.elsewhere(saveOfARM64(in >> 16))
		}
		switch in >> 21 & 0xff {
		case 0b11010010: // conditional compares
		case 0b11010100: // conditional selects
			s.saves.forget(rd)
		default:
			s.saves.write(rd)
		}
	default: // vectors: registers that may have been moved to them count as elsewhere
		s.saves.elsewhere(saveOfARM64(in >> 5))
		s.saves.forget(rd)
	}
}

// memorySavesARM64 handles loads and stores.
func memorySavesARM64(in uint32, s *frameState) {
	if in>>26&1 != 0 {
		return // of vectors
	}
	base := orSPARM64(in >> 5)
	known, at := s.knows(base), int64(0)
	if known {
		at = int64(s.off[base])
	}
	rt, rt2 := saveOfARM64(in), saveOfARM64(in>>10)
	switch in >> 27 & 7 {
	case 0b101:
		if in>>23&3 != 1 { // not post-indexed
			at -= pairARM64(in, false)
		}
		word := in>>30 == 2
		for i, k := range [...]int{rt, rt2} {
			switch at := at - int64(i)*saveWord; {
			case in>>22&1 != 0:
				s.saves.load(k, known && word, at)
			case word:
				s.store(k, known, at)
			}
		}
	case 0b111:
		if in>>24&1 != 0 {
			at -= int64(in>>10&0xfff) * saveWord
		} else if known = known && in>>21&1 == 0; in>>10&3 != 1 {
			at -= int64(int32(in<<11) >> 23)
		}
		switch opc := in >> 22 & 3; {
		case opc != 0:
			s.saves.load(rt, known && in>>30 == 3 && opc == 1, at)
		case in>>30 == 3:
			s.store(rt, known, at)
		}
	default: // exclusive, literals, copies
		s.saves.forget(rt)
		s.saves.forget(rt2)
		s.saves.forget(saveOfARM64(in >> 16))
	}
}
