package cpu

// TLS says where the thread-local variables of the program itself are, whose block has a fixed place
// beside a thread's pointer ("ELF Handling For Thread-Local Storage", section 3, and each processor's
// ELF supplement).
type TLS struct {
	Pointer string // the register with a thread's pointer, which dumps may not have
	Low     string // the register with its lower 32 bits, if Pointer has the upper ones
	After   bool   // the block is after the pointer (variant I); otherwise it ends there (variant II)
	TCB     uint64 // bytes between the pointer and the block, at least
	Bias    uint64 // how far the pointer is after the place from which TCB counts
}

// Block returns the address of the program's block in a thread with the pointer tp. addr, size and
// align are those of the program's PT_TLS, in memory. The block lies as addr does between
// multiples of align, a power of 2.
func (t *TLS) Block(tp, addr, size, align uint64) uint64 {
	if t.After {
		return tp - t.Bias + t.TCB + (addr-t.TCB)&(align-1)
	}
	return tp - size - (-addr-size)&(align-1)
}

// Variant I, as several CPUs have it.
func afterTCB(pointer string, tcb uint64) TLS { return TLS{Pointer: pointer, After: true, TCB: tcb} }
func biased(pointer string) TLS               { return TLS{Pointer: pointer, After: true, Bias: 0x7000} }
