package walk

import (
	"context"
	"slices"

	"github.com/symtool/symtool/resolve"
)

// place is the result of looking up an address in symbols. Many stacks contain the same addresses,
// as does a recursion; their frames share the names.
type place struct {
	found   bool
	err     error
	at      resolve.Location
	line    rva // start of the line record
	hasLine bool
}

// placeCache caches places.
type placeCache struct {
	places map[rowKey]*place
	names  int // number of names in all places
}

// maxPlaces and maxPlaceNames limit the cached places and the functions in them: thousands of
// functions may be inlined at the same address.
const (
	maxPlaces     = 1 << 13
	maxPlaceNames = 1 << 18
)

// find looks up an address in the symbols of a module.
func (c *placeCache) find(ctx context.Context, r resolve.Symbols, rva rva) *place {
	key := rowKey{r, rva}
	if p := c.places[key]; p != nil {
		return p
	}
	if c.places == nil || len(c.places) >= maxPlaces || c.names >= maxPlaceNames {
		c.places, c.names = map[rowKey]*place{}, 0
	}
	p := &place{}
	p.found, p.err = r.Nearest(ctx, rva, &p.at)
	if p.found && p.err == nil {
		p.line, p.hasLine, p.err = r.LineStart(ctx, rva)
	}
	if ctx.Err() != nil {
		return p
	}
	p.at.Frames = slices.Clip(p.at.Frames)
	c.places[key] = p
	c.names += len(p.at.Frames)
	return p
}

// slabSize is the number of registers allocated at a time.
const slabSize = 1024

// maxWithRegisters is the number of a stack's frames that keep their registers. A stack with more
// frames has overflowed or is damaged; the registers of a million frames would take 300 MB.
const maxWithRegisters = 1 << 17

// registers sets f.Registers to the known registers.
func (u *unwinder) registers(f *Frame) {
	if len(u.stack.Frames) >= maxWithRegisters {
		return
	}
	if cap(u.slab)-len(u.slab) < len(u.cpu.Kept) {
		u.slab = make([]Register, 0, slabSize)
	}
	first := len(u.slab)
	for _, r := range u.cpu.Kept {
		if v, ok := u.in.Get(r); ok {
			u.slab = append(u.slab, Register{int16(r), v})
		}
	}
	f.Registers = u.slab[first:len(u.slab):len(u.slab)]
}

// growFrames makes room for a frame by doubling the capacity as far as the limits allow: append's
// smaller steps would leave more garbage.
func (u *unwinder) growFrames() {
	if all := u.stack.Frames; len(all) == cap(all) {
		u.stack.Frames = slices.Grow(all, max(1, min(max(64, len(all)), u.config.MaxFrames-len(all), u.budget.left)))
	}
}

// maxScratch is the number of frames up to which memory is reused for the next stack.
const maxScratch = 1 << 14

// keepFrames copies the stack's frames, which were collected in memory that the next stack
// reuses.
func (u *unwinder) keepFrames() {
	if all := u.stack.Frames; cap(all) > maxScratch {
		u.scratch = nil
	} else {
		u.scratch, u.stack.Frames = all, slices.Clone(all)
	}
}
