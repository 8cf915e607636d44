package dump

import (
	"bytes"
	"strconv"
)

// userBit is the highest bit of addresses that is 0 in a program and 1 in the kernel, below all tags.
const userBit = 1 << 55

// PointerTags returns all bits of pointers that are not part of the address.
func (d *Dump) PointerTags() uint64 {
	if d.Arch == nil {
		return d.Tags
	}
	return d.Arch.AddressTag | d.Tags
}

// Tagged is memory that is read through pointers with tags.
type Tagged struct {
	Memory *Memory
	Tags   uint64 // by PointerTags
}

// Tagged returns the memory of the dump as the process's pointers lead to it.
func (d *Dump) Tagged() Tagged { return Tagged{&d.Memory, d.PointerTags()} }

// untag returns the address to which a pointer leads. Pointers to the kernel's half of the address space are returned
// as they are.
func (t Tagged) untag(pointer uint64) uint64 {
	if pointer&userBit != 0 {
		return pointer
	}
	return pointer &^ t.Tags
}

// Bytes is like Memory.Bytes.
func (t Tagged) Bytes(pointer uint64, n int) []byte { return t.Memory.Bytes(t.untag(pointer), n) }

// Next is like Memory.Next; the result has the pointer's tag.
func (t Tagged) Next(pointer uint64) (next uint64, ok bool) {
	addr := t.untag(pointer)
	next, ok = t.Memory.Next(addr)
	return next | pointer&^addr, ok
}

// StatusTags returns the bits that linear address masking (LAM) of x86-64 ignores, by the text of /proc/PID/status, or
// 0 if the process has not enabled it.
func StatusTags(status []byte) uint64 {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("untag_mask:")); ok {
			mask, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 0, 64)
			if err == nil && mask>>63 != 0 {
				return ^mask
			}
		}
	}
	return 0
}
