// Package regset describes the sets of registers that notes of cores, requests of ptrace and contexts of minidumps
// share: XSAVE's area, the vectors of SVE and RISC-V. Their layouts depend on the machine.
package regset

import (
	"encoding/binary"
	"strconv"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Set is the layout of registers in a block of data.
type Set struct {
	Parts []dump.RegPart // of registers that are wider than a word
	Words []Word
}

// Word is a register of 4 or 8 bytes.
type Word struct {
	Reg      int // index in arch.Arch.Regs
	At, Size int // in the data; At is less than 0 if the register is 0
}

// part adds a part of a register, if the CPU has the register.
func (s *Set) part(a *arch.Arch, prefix string, i int, p dump.RegPart) {
	if reg, ok := a.RegIndex(numbered(prefix, i)); ok {
		p.Reg = reg
		s.Parts = append(s.Parts, p)
	}
}

// word adds a register of 4 or 8 bytes, if the CPU has it.
func (s *Set) word(a *arch.Arch, name string, at, size int) {
	if reg, ok := a.RegIndex(name); ok {
		s.Words = append(s.Words, Word{reg, at, size})
	}
}

func numbered(prefix string, i int) string { return prefix + strconv.Itoa(i) }

// read adds the registers in data to a context, which then refers to data.
func (s *Set) read(c *dump.Context, data []byte, order binary.ByteOrder) {
	for _, w := range s.Words {
		switch {
		case w.At < 0:
			c.SetAt(w.Reg, 0)
		case w.Size == 4:
			c.SetAt(w.Reg, uint64(order.Uint32(data[w.At:])))
		default:
			c.SetAt(w.Reg, order.Uint64(data[w.At:]))
		}
	}
	if len(s.Parts) > 0 {
		c.Blocks = append(c.Blocks, dump.Block{Data: data, Parts: s.Parts})
	}
}

// in reports whether a context has one of the registers, and of a wider one more than comes before its part.
func (s *Set) in(c *dump.Context) bool {
	for _, w := range s.Words {
		if _, ok := c.At(w.Reg); ok {
			return true
		}
	}
	for _, p := range s.Parts {
		if len(c.Bytes(p.Reg)) >= p.From+p.Size {
			return true
		}
	}
	return false
}

// write stores the registers of a context in data.
func (s *Set) write(c *dump.Context, data []byte, order binary.ByteOrder) {
	for _, w := range s.Words {
		v, _ := c.At(w.Reg)
		if w.Size == 4 {
			order.PutUint32(data[w.At:], uint32(v))
		} else {
			order.PutUint64(data[w.At:], v)
		}
	}
	for _, p := range s.Parts {
		if b := c.Bytes(p.Reg); len(b) >= p.From+p.Size {
			copy(data[p.At:p.At+p.Size], b[p.From:])
		}
	}
}
