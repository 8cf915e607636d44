package resolve

import (
	"context"
	"errors"
	"fmt"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Rules returns the rules in force at an address, or nil if no STACK CFI INIT contains it; of
// several, the one that starts last applies. Register numbers are those of names, to which new
// ones are added. The rules of a symbol file are read each time.
//
// An unreadable record is an error: the address from which its rules apply is unknown, so none of
// its STACK CFI INIT can be trusted.
func (r *Resolver) Rules(_ context.Context, rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
	i := r.x.blocks.find(rva)
	if i < 0 {
		return nil, nil
	}
	v := r.x.blocks.span(i)
	rules, err := r.source.rules(v, rva, names)
	var fault *cfi.Error
	switch {
	case errors.As(err, &fault):
		return nil, fmt.Errorf("%s: rules of STACK CFI INIT %x: %w", r.path, uint64(v.rva), err)
	case err != nil:
		return nil, r.errorf(v.offset, err)
	}
	return rules, nil
}

// The types of STACK WIN records that describe frames (Breakpad's
// windows_frame_info.h). FrameData has a program, and takes precedence over
// FPO.
const (
	winFPO       = 0
	winFrameData = 4
)

// Win returns the STACK WIN record that contains an address, or nil. Of several, type 4 takes
// precedence over type 0, and within a type the record that starts last, which is the innermost.
func (r *Resolver) Win(rva symfmt.RVA) (*symfmt.StackWin, error) {
	for _, wins := range []*spans{&r.x.wins, &r.x.fpos} {
		if i := wins.find(rva); i >= 0 {
			v := wins.span(i)
			win, err := r.source.win(v)
			if err != nil {
				return nil, r.errorf(v.offset, err)
			}
			return win, nil
		}
	}
	return nil, nil
}
