package regset

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Linux's struct user_sve_header (arch/arm64/include/uapi/asm/ptrace.h): the size of the note, and its largest, the
// length of a vector in bytes, and its largest, and flags.
const (
	sveHeader  = 16
	sveVLAt    = 8
	sveFlagsAt = 12
	sveActive  = 1 // SVE's registers follow; otherwise those of NEON
	maxVL      = 8192
)

// fpState is the part of dump.Context.Vector with FPSR and FPCR on arm64.
const fpState, fpStateEnd = 512, 520

// ReadSVE adds the registers of NT_ARM_SVE to a context or, if streaming is set, those of NT_ARM_SSVE, which replace
// them if the thread is in streaming mode.
func ReadSVE(c *dump.Context, b []byte, order binary.ByteOrder, streaming bool) error {
	if len(b) < sveHeader {
		return fmt.Errorf("%d bytes, want at least %d", len(b), sveHeader)
	}
	vl, active := int(order.Uint16(b[sveVLAt:])), order.Uint16(b[sveFlagsAt:])&sveActive != 0
	if streaming && !active {
		return nil
	}
	if vl == 0 || vl%16 != 0 || vl > maxVL {
		return fmt.Errorf("vectors of %d bytes, want a multiple of 16 up to %d", vl, maxVL)
	}
	c.Set("vg", uint64(vl/8))
	c.Blocks = nil
	if !active {
		return nil
	}
	s, end := sveSet(vl)
	if len(b) < end {
		return fmt.Errorf("%d bytes, want %d for vectors of %d bytes", len(b), end, vl)
	}
	s.read(c, b, order)
	return nil
}

// sveSet returns the layout of SVE's registers with vectors of vl bytes, and their end.
func sveSet(vl int) (s Set, end int) {
	at := sveHeader
	for i := range 32 {
		s.part(arch.ARM64, "v", i, dump.RegPart{At: at, Size: vl})
		s.part(arch.ARM64, "z", i, dump.RegPart{At: at, Size: vl})
		at += vl
	}
	for i := range 16 {
		s.part(arch.ARM64, "p", i, dump.RegPart{At: at, Size: vl / 8})
		at += vl / 8
	}
	if ffr, ok := arch.ARM64.RegIndex("ffr"); ok {
		s.Parts = append(s.Parts, dump.RegPart{Reg: ffr, At: at, Size: vl / 8})
	}
	return s, at + vl/8
}

// EncodeSVE returns NT_ARM_SVE with the registers of a context, or nil if the length of vectors is not known.
func EncodeSVE(c *dump.Context, order binary.ByteOrder) []byte {
	vg, ok := c.Get("vg")
	vl := int(vg) * 8
	if !ok || vg == 0 || vg%2 != 0 || vg > maxVL/8 {
		return nil
	}
	s, end := sveSet(vl)
	state := (end + 15) &^ 15
	b := make([]byte, state+16)
	if len(c.Blocks) > 0 {
		s.write(c, b, order)
		order.PutUint16(b[sveFlagsAt:], sveActive)
		if len(c.Vector) >= fpStateEnd {
			copy(b[state:], c.Vector[fpState:fpStateEnd])
		}
	} else {
		b = append(b[:sveHeader], make([]byte, fpStateEnd+8)...)
		copy(b[sveHeader:], c.Vector)
	}
	order.PutUint32(b, uint32(len(b)))
	order.PutUint32(b[4:], uint32(state+16))
	order.PutUint16(b[sveVLAt:], uint16(vl))
	order.PutUint16(b[sveVLAt+2:], uint16(vl))
	return b
}

// Linux's struct __riscv_v_regset_state (arch/riscv/include/uapi/asm/ptrace.h): words, then v0 to v31.
var rvvWords = []string{"vstart", "vl", "vtype", "vcsr", "vlenb"}

const maxVLenB = 8192

// ReadRVV adds the registers of NT_RISCV_VECTOR to a context.
func ReadRVV(c *dump.Context, b []byte, order binary.ByteOrder) error {
	words, end := rvvSet(c.Arch, 0)
	if len(b) < end {
		return fmt.Errorf("%d bytes, want at least %d", len(b), end)
	}
	words.Parts = nil
	words.read(c, b, order)
	vlenb, _ := c.Get("vlenb")
	if vlenb == 0 || vlenb&(vlenb-1) != 0 || vlenb > maxVLenB {
		c.Unset("vlenb")
		return fmt.Errorf("vectors of %d bytes, want a power of 2 up to %d", vlenb, maxVLenB)
	}
	s, end := rvvSet(c.Arch, int(vlenb))
	if len(b) < end {
		return fmt.Errorf("%d bytes, want %d for vectors of %d bytes", len(b), end, vlenb)
	}
	s.read(c, b, order)
	return nil
}

// rvvSet returns the layout of NT_RISCV_VECTOR and its end.
func rvvSet(a *arch.Arch, vlenb int) (s Set, at int) {
	for _, name := range rvvWords {
		s.word(a, name, at, a.PtrSize)
		at += a.PtrSize
	}
	for i := range 32 {
		s.part(a, "v", i, dump.RegPart{At: at, Size: vlenb})
		at += vlenb
	}
	return s, at
}

// EncodeRVV returns NT_RISCV_VECTOR with the registers of a context, or nil if the length of vectors is not known.
func EncodeRVV(c *dump.Context, order binary.ByteOrder) []byte {
	vlenb, ok := c.Get("vlenb")
	if !ok || vlenb > maxVLenB {
		return nil
	}
	s, end := rvvSet(c.Arch, int(vlenb))
	b := make([]byte, end)
	s.write(c, b, order)
	return b
}
