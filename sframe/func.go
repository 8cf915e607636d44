package sframe

// Func is a function with all its rows, apart from any section: what Encode
// writes.
type Func struct {
	Start  uint64 // address of the first byte
	Size   uint32 // bytes
	Block  uint32 // of a PCMASK function, the size of the block that repeats; else 0
	KeyB   bool   // AArch64: return addresses are signed with key B
	Signal bool   // the frame's return address was interrupted
	Rows   []Row  // ascending
}

// Func returns FDE i with its rows. With an error it has the rows before the
// damage.
func (s *Section) Func(i int) (Func, error) {
	f := &s.FDEs[i]
	rows := s.Rows(i)
	fn := Func{Start: f.Start, Size: f.Size, KeyB: f.KeyB, Signal: f.Signal}
	if f.Mask {
		fn.Block = f.Block
	}
	for rows.Next() {
		fn.Rows = append(fn.Rows, rows.Row)
	}
	return fn, rows.Err()
}
