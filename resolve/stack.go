package resolve

import (
	"bytes"

	"github.com/symtool/symtool/symfmt"
)

// Block is a STACK CFI INIT record with the STACK CFI records that belong to it,
// as their text has them: package cfi parses rules.
type Block struct {
	Start symfmt.RVA
	Size  uint64 // in bytes
	Init  string // rules
	Rows  []BlockRow
	// Err is of a record that cannot be read: from which address on its rules hold
	// is not known, so that none of the block can be trusted.
	Err error
}

// BlockRow is a STACK CFI record: from RVA on, these rules replace those of the
// same registers.
type BlockRow struct {
	RVA   symfmt.RVA
	Rules string
}

// CFI returns the block around an address, nil if there is none. It is read from
// the symbol file each time. Of several blocks the one that starts last is
// taken; rows are in order of the file, rows outside of the block left out.
func (r *Resolver) CFI(rva symfmt.RVA) (*Block, error) {
	i := r.x.blocks.find(rva)
	if i < 0 {
		return nil, nil
	}
	s := r.x.blocks.span(i)
	text, err := r.spanText(s)
	if err != nil {
		return nil, err
	}
	var parser symfmt.LineParser
	b := &Block{Start: s.rva, Size: s.size}
	for n := 0; len(text) > 0; n++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		if line = trim(line); len(line) > symfmt.MaxLine || len(bytes.TrimLeft(line, " \t")) == 0 {
			continue
		}
		rec, err := parser.Parse(line, "", 1)
		switch {
		case n == 0 && (err != nil || rec.Kind != symfmt.KindCFIInit || rec.RVA != s.rva || rec.Size != s.size):
			return nil, r.errorf(s.offset, errChanged)
		case n == 0:
			b.Init = string(rec.Name)
		case err != nil && b.Err == nil && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("STACK")):
			b.Err = r.errorf(s.offset, err)
		case err == nil && rec.Kind == symfmt.KindCFI && s.holds(rec.RVA):
			b.Rows = append(b.Rows, BlockRow{rec.RVA, string(rec.Name)})
		}
	}
	return b, nil
}

// The types of STACK WIN records that say how to walk (Breakpad's
// windows_frame_info.h). FrameData has a program, and goes before FPO.
const (
	winFPO       = 0
	winFrameData = 4
)

// Win returns the STACK WIN record around an address, nil if there is none. Of
// several, one of type 4 goes before one of type 0, and of one type the one that
// starts last, which is the innermost.
func (r *Resolver) Win(rva symfmt.RVA) (*symfmt.StackWin, error) {
	for _, wins := range []*spans{&r.x.wins, &r.x.fpos} {
		if i := wins.find(rva); i >= 0 {
			return r.win(wins.span(i))
		}
	}
	return nil, nil
}

func (r *Resolver) win(s span) (*symfmt.StackWin, error) {
	text, err := r.spanText(s)
	if err != nil {
		return nil, err
	}
	var parser symfmt.LineParser
	rec, err := parser.Parse(trim(bytes.TrimRight(text, "\n")), "", 1)
	if err != nil || rec.Kind != symfmt.KindStackWin || rec.Win.RVA != s.rva || rec.Win.CodeSize != s.size {
		return nil, r.errorf(s.offset, errChanged)
	}
	win := rec.Win
	win.Program = string(rec.Name)
	return &win, nil
}
