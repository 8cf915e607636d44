package resolve

import (
	"bytes"
	"fmt"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Rules are how to find the caller at an address.
type Rules struct {
	Start   symfmt.RVA // of the code of the STACK CFI INIT
	Size    uint64     // of that code in bytes
	Row     cfi.Row    // the rules in force
	Records int        // that were read for them
}

// Rules returns the rules in force at an address, nil without a STACK CFI INIT around
// it; of several, the one that starts last counts. Their registers are those of names,
// to which it adds. They are read from the symbol file each time.
//
// A record that cannot be read is an error: from which address on its rules hold is
// not known, so that none of its STACK CFI INIT can be trusted.
func (r *Resolver) Rules(rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
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
	found := &Rules{Start: s.rva, Size: s.size, Row: cfi.Row{RVA: s.rva}}
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
		case err != nil && bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("STACK")):
			return nil, r.errorf(s.offset, err)
		case err != nil, n > 0 && (rec.Kind != symfmt.KindCFI || !s.holds(rec.RVA)):
			continue
		}
		found.Records++
		if rec.RVA > rva {
			continue
		}
		rules, err := names.ParseRules(string(rec.Name))
		if err != nil {
			return nil, fmt.Errorf("%s: rules of STACK CFI INIT %x: %w", r.Path, uint64(s.rva), err)
		}
		found.Row.Apply(rules)
	}
	return found, nil
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
