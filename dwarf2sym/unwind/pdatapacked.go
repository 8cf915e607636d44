package unwind

import "slices"

// packed writes the rows of an entry whose codes are packed into one word. The word stands
// for a prologue of a fixed form, and for its mirror image at the end of the function
// (Microsoft, "ARM64 exception handling", "Packed unwind data").
func (p *pdataReader) packed(e *pdataEntry) error {
	w := packedWord{
		floats: int64(e.info >> 13 & 7), ints: int64(e.info >> 16 & 15), home: e.info>>20&1 != 0,
		chain: e.info >> 21 & 3, frame: int64(e.info>>23) * 16,
	}
	if w.ints > 10 || w.saved() > w.frame {
		return errorf(p.section.Name, e.offset+4, "packed codes %#x: registers of %d bytes in a frame of %d", e.info, w.saved(), w.frame)
	}
	ops := w.prologue()
	if len(ops) == 0 {
		p.uncoded(e, false)
		return nil
	}
	slices.Reverse(ops)
	own := len(ops)
	fragment := e.info&3 == 2
	if fragment {
		own = 0
	}
	body, _ := p.prologue(e, ops, own)
	if !fragment {
		// The frame register is not restored, and arguments are not reloaded.
		undone := slices.DeleteFunc(ops, func(o arm64Op) bool { return o.kind == arm64SetFP || o.kind == arm64Nop })
		at := e.hi - min(4*uint64(len(undone)+1), e.hi-e.lo)
		p.epilogue(e, at, undone, &body)
	}
	p.flush(e.hi)
	return nil
}

// packedWord holds the fields of packed codes.
type packedWord struct {
	floats int64 // RegF: number of registers, one more than RegF unless it is 0
	ints   int64 // RegI: number of registers from x19 on
	home   bool  // H: the registers of arguments are stored
	chain  uint32
	frame  int64 // size in bytes
}

// Values of CR.
const (
	packedLR       = 1 // the link register is saved with the others
	packedSigned   = 2 // like packedChain, with pacibsp
	packedChain    = 3 // x29 and the link register are saved, and x29 points to them
	packedMaxPre   = 512
	packedMaxAlloc = 4080
)

// intBytes returns the size of the saved x registers, including the link register.
func (w *packedWord) intBytes() int64 {
	n := 8 * w.ints
	if w.chain == packedLR {
		n += 8
	}
	return n
}

// saved returns the aligned size of everything saved below the caller's frame.
func (w *packedWord) saved() int64 {
	n := w.intBytes()
	if w.floats > 0 {
		n += 8 * (w.floats + 1)
	}
	if w.home {
		n += 64
	}
	return (n + 15) &^ 15
}

// prologue returns the instructions, in order.
func (w *packedWord) prologue() (ops []arm64Op) {
	if w.chain == packedSigned {
		ops = append(ops, arm64Op{kind: arm64Sign})
	}
	first := len(ops)
	ops = w.saveInts(ops)
	if w.floats > 0 {
		n := w.floats + 1
		for off := w.intBytes(); n > 0; n, off = n-2, off+16 {
			ops = append(ops, floats(uint8(min(n, 2)), off, 0))
		}
	}
	if w.home {
		ops = append(ops, arm64Op{}, arm64Op{}, arm64Op{}, arm64Op{})
	}
	switch { // the first store lowers the stack pointer
	case len(ops) == first:
	case ops[first].kind == arm64Nop:
		ops[first] = arm64Op{kind: arm64Alloc, off: w.saved()}
	case w.ints == 1 && w.chain == packedLR: // no form of save_lrpair does
		ops = slices.Insert(ops, first, arm64Op{kind: arm64Alloc, off: w.saved()})
	default:
		ops[first].pre = w.saved()
	}
	return w.locals(ops)
}

// saveInts stores pairs of x registers; the link register follows the last one.
func (w *packedWord) saveInts(ops []arm64Op) []arm64Op {
	for i := int64(0); i < w.ints; i += 2 {
		o := pairOf(uint8(19+i), 8*i, 0)
		if i+1 == w.ints {
			if o.also = arm64LR; w.chain != packedLR {
				o.n = 1
			}
		}
		ops = append(ops, o)
	}
	if w.chain == packedLR && w.ints%2 == 0 {
		ops = append(ops, oneOf(arm64LR, 8*w.ints, 0))
	}
	return ops
}

// locals allocates the rest of the frame.
func (w *packedWord) locals(ops []arm64Op) []arm64Op {
	left := w.frame - w.saved()
	chained := w.chain == packedChain || w.chain == packedSigned
	if chained && left <= packedMaxPre {
		return append(ops, pairOf(arm64FP, 0, left), arm64Op{kind: arm64SetFP})
	}
	if left > packedMaxAlloc {
		ops = append(ops, arm64Op{kind: arm64Alloc, off: packedMaxAlloc})
		left -= packedMaxAlloc
	}
	if left > 0 {
		ops = append(ops, arm64Op{kind: arm64Alloc, off: left})
	}
	if chained {
		ops = append(ops, pairOf(arm64FP, 0, 0), arm64Op{kind: arm64SetFP})
	}
	return ops
}
