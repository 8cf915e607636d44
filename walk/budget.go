package walk

import (
	"fmt"

	"github.com/symtool/symtool/walk/dump"
)

// All stacks of a dump share one budget, which grows with the memory in the dump. Without it, threads
// that share one stack, or rules that invent frames, make gigabytes of frames from a dump of
// kilobytes.
//
// A frame usually takes at least two words of the stack, the return address and a saved register. So
// a genuine dump never has more frames than pairs of words in its memory, apart from the topmost
// frame of each thread, which takes none. baseBudget is for small dumps whose symbols have many
// inlined functions. maxBudget limits the frames of a dump to 500 MB.
const (
	baseBudget  = 1 << 14
	wordsAFrame = 2
	maxBudget   = 4 << 20
	nameUnit    = 512 // bytes of names of functions and files that a frame includes
	linesAFrame = 4   // lines of a trace that cost as much as a frame
	lineUnit    = 128 // bytes of a trace line that cost as much as a line
	ruleUnit    = 64  // rules parsed, or registers with a rule, that cost as much as a frame
)

// Budget is the remaining budget of a dump's stacks.
type Budget struct {
	size  int64 // bytes of memory on which the limits are based
	limit int   // maximum number of frames
	left  int   // number of frames left; negative once it is exhausted
	lines int   // number of trace lines left
}

// NewBudget returns the budget of a dump's stacks.
func NewBudget(d *dump.Dump) *Budget {
	word := 8
	if d.Arch != nil {
		word = d.Arch.PtrSize
	}
	var size int64
	for i := range d.Memory.Regions {
		size += int64(len(d.Memory.Regions[i].Data))
	}
	size = min(size, d.Size) // regions may share bytes of the file, or come from binaries
	limit := int(min(baseBudget+size/int64(wordsAFrame*word), maxBudget))
	return &Budget{size: size, limit: limit, left: limit, lines: linesAFrame * limit}
}

// Charge charges for a frame: one for each function that it is in, and one more for each nameUnit
// bytes of their names.
func (b *Budget) Charge(f *Frame) {
	cost := max(1, len(f.Names))
	for i := range f.Names {
		cost += (len(f.Names[i].Function) + len(f.Names[i].File)) / nameUnit
	}
	b.left -= cost
}

// chargeRules charges for rules: thousands of rows may be parsed to find the rules in force at an
// address, and thousands of registers may have rules there.
func (b *Budget) chargeRules(parsed int, row *cachedRow) {
	if row.row != nil {
		parsed += len(row.row.Regs)
	}
	b.left -= parsed / ruleUnit
}

// takeLine charges for a line of a trace, and reports whether the budget allows it.
func (b *Budget) takeLine(line string) bool {
	b.lines -= 1 + len(line)/lineUnit
	return b.lines >= 0
}

// Exhausted reports whether the budget is used up, so that no more frames may be added.
func (b *Budget) Exhausted() bool { return b.left <= 0 }

// why returns the message for an exhausted budget.
func (b *Budget) why() string {
	return fmt.Sprintf("the stacks of a dump with %d bytes of memory are limited to %d frames in all, inlined functions included", b.size, b.limit)
}
