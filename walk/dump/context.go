package dump

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

// Context holds the registers of a thread, indexed like arch.Arch.Regs, each known or unknown.
type Context struct {
	Arch   *arch.Arch
	values []uint64
	known  []uint64 // bit set

	// Vector is the state of the floating-point and vector registers as laid out by the CPU or the
	// system's ABI, in a form that minidumps and cores share: FXSAVE's 512 bytes on x86 and x86-64;
	// on arm64 the 32 registers of 16 bytes, then FPSR and FPCR. It is nil if the dump lacks it or
	// has it in another form.
	Vector []byte

	// Blocks hold registers that are wider than a word, beyond Vector.
	Blocks []Block
}

// Block is a part of a thread's state in the form in which the CPU or the system saves it.
type Block struct {
	Data  []byte
	Parts []RegPart // the registers in it; threads may share them
}

// RegPart is a part of a register in a block.
type RegPart struct {
	Reg  int // index in arch.Arch.Regs
	From int // offset of the part in the register, whose lowest byte is at 0
	At   int // offset in Block.Data; less than 0 if the part is 0
	Size int // in bytes
}

// NewContext returns a context without known registers.
func NewContext(a *arch.Arch) *Context {
	n := len(a.Regs)
	return &Context{Arch: a, values: make([]uint64, n), known: make([]uint64, (n+63)/64)}
}

// Clone returns a copy, with the same Vector and Blocks.
func (c *Context) Clone() *Context {
	return &Context{c.Arch, slices.Clone(c.values), slices.Clone(c.known), c.Vector, slices.Clip(c.Blocks)}
}

// At returns the value of register i of Arch.Regs, if it is known.
func (c *Context) At(i int) (uint64, bool) {
	if c.known[i>>6]>>(i&63)&1 == 0 {
		return 0, false
	}
	return c.values[i], true
}

// SetAt sets register i of Arch.Regs.
func (c *Context) SetAt(i int, v uint64) {
	c.values[i] = v
	c.known[i>>6] |= 1 << (i & 63)
}

// Get returns the value of a register by name, if it is known.
func (c *Context) Get(name string) (uint64, bool) {
	i, ok := c.Arch.RegIndex(name)
	if !ok {
		return 0, false
	}
	return c.At(i)
}

// Set sets a register. Names that the CPU does not have are ignored.
func (c *Context) Set(name string, v uint64) {
	if i, ok := c.Arch.RegIndex(name); ok {
		c.SetAt(i, v)
	}
}

// Unset makes the value of a register unknown.
func (c *Context) Unset(name string) {
	if i, ok := c.Arch.RegIndex(name); ok {
		c.values[i], c.known[i>>6] = 0, c.known[i>>6]&^(1<<(i&63))
	}
}

// PC returns the program counter, or 0 if it is unknown.
func (c *Context) PC() uint64 { v, _ := c.Get(c.Arch.PC); return v }

// SP returns the stack pointer, or 0 if it is unknown.
func (c *Context) SP() uint64 { v, _ := c.Get(c.Arch.SP); return v }

// vectorReg gives the location in Context.Vector of a series of registers: prefix0, prefix1, ...
type vectorReg struct {
	prefix   string
	number   int
	at, step int
	size     int
}

// vectorRegs are the series in FXSAVE (Intel's manual, volume 1, table 10-2) and on arm64.
var vectorRegs = map[*arch.Arch][]vectorReg{
	arch.X86:    {{"$st", 8, 32, 16, 10}, {"$mm", 8, 32, 16, 8}, {"$xmm", 8, 160, 16, 16}},
	arch.X86_64: {{"$st", 8, 32, 16, 10}, {"$mm", 8, 32, 16, 8}, {"$xmm", 16, 160, 16, 16}},
	arch.ARM64:  {{"v", 32, 0, 16, 16}},
}

// Bytes returns the value of register i of Arch.Regs, if Vector or Blocks have it, as far as it is known from its
// lowest byte on. The result is nil if they do not.
func (c *Context) Bytes(i int) []byte {
	b := c.vectorAt(i)
	for k := range c.Blocks {
		block := &c.Blocks[k]
		for _, p := range block.Parts {
			if p.Reg != i || p.From > len(b) || p.From+p.Size <= len(b) {
				continue
			}
			b = slices.Clone(b[:p.From])
			if p.At < 0 {
				b = append(b, make([]byte, p.Size)...)
			} else {
				b = append(b, block.Data[p.At:p.At+p.Size]...)
			}
		}
	}
	return b
}

// InBlocks returns the registers of which Blocks has a part, as indices in Arch.Regs, in ascending order.
func (c *Context) InBlocks() (regs []int) {
	for _, b := range c.Blocks {
		for _, p := range b.Parts {
			regs = append(regs, p.Reg)
		}
	}
	slices.Sort(regs)
	return slices.Compact(regs)
}

// A Wide is a register of which Blocks has a part.
type Wide struct {
	Name  string // as debuggers call it: ymm0 for 32 bytes of $xmm0, zmm0 for 64
	Value []byte // from the lowest byte
}

// Wide returns the registers of which Blocks has a part. Those of NEON, which are parts of SVE's, are left out.
func (c *Context) Wide() (list []Wide) {
	for _, reg := range c.InBlocks() {
		w := Wide{strings.TrimPrefix(c.Arch.Regs[reg].Name, "$"), c.Bytes(reg)}
		number, isXMM := strings.CutPrefix(w.Name, "xmm")
		switch {
		case isXMM && len(w.Value) == 64:
			w.Name = "zmm" + number
		case isXMM && len(w.Value) == 32:
			w.Name = "ymm" + number
		case c.Arch == arch.ARM64 && w.Name[0] == 'v':
			continue
		}
		list = append(list, w)
	}
	return list
}

// SetBytes sets the values of registers that are wider than a word, by index in Arch.Regs.
func (c *Context) SetBytes(values map[int][]byte) {
	var b Block
	for _, reg := range slices.Sorted(maps.Keys(values)) {
		b.Parts = append(b.Parts, RegPart{Reg: reg, At: len(b.Data), Size: len(values[reg])})
		b.Data = append(b.Data, values[reg]...)
	}
	c.Blocks = append(c.Blocks, b)
}

// vectorAt returns the part of Vector that holds register i of Arch.Regs, or nil.
func (c *Context) vectorAt(i int) []byte {
	if c.Vector == nil {
		return nil
	}
	for _, v := range vectorRegs[c.Arch] {
		number, ok := strings.CutPrefix(c.Arch.Regs[i].Name, v.prefix)
		n, err := strconv.Atoi(number)
		if at := v.at + n*v.step; ok && err == nil && n < v.number && at+v.size <= len(c.Vector) {
			return c.Vector[at : at+v.size]
		}
	}
	return nil
}
