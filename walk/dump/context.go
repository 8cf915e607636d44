package dump

import (
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
}

// NewContext returns a context without known registers.
func NewContext(a *arch.Arch) *Context {
	n := len(a.Regs)
	return &Context{Arch: a, values: make([]uint64, n), known: make([]uint64, (n+63)/64)}
}

// Clone returns a copy, with the same Vector.
func (c *Context) Clone() *Context {
	return &Context{c.Arch, slices.Clone(c.values), slices.Clone(c.known), c.Vector}
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

// VectorAt returns the part of Vector that holds register i of Arch.Regs, or nil.
func (c *Context) VectorAt(i int) []byte {
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
