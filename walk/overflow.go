package walk

import (
	"fmt"

	"github.com/symtool/symtool/walk/dump"
)

// The codes of crashes that a stack overflow causes.
const (
	windowsStackOverflow   = 0xc00000fd
	windowsAccessViolation = 0xc0000005
	windowsGuardPage       = 0x80000001
	linuxSIGSEGV           = 11
	linuxSIGBUS            = 7
	machBadAccess          = 1
)

const (
	// maxOver is the distance in bytes that the last function may reach below the stack: Linux keeps
	// 1 MiB below the stack of the main thread free; other guards have a page to 64 KiB.
	maxOver = 1 << 20
	// nearSP is the largest distance between the stack pointer and the fault of an overflow, caused
	// by a push, a call, or an access to a local variable of a large frame. It equals maxOver for
	// the same reason.
	nearSP = maxOver
	// maxGuards is the number of mappings without write access that are skipped on the way up to the
	// stack.
	maxGuards = 4
)

// noteStack adds a note if something is wrong with the stack itself: it has overflowed, or the stack
// pointer is in another thread's stack or in no memory.
func (u *unwinder) noteStack() {
	if what := u.overflow(); what != "" {
		u.stack.Notes, u.stack.Overflow = append(u.stack.Notes, what), true
		return
	}
	sp := u.frame.SP
	if _, ok := u.ReadWord(sp); !ok {
		u.noteNoMemory(sp)
		return
	}
	own := &u.d.Threads[u.stack.Thread]
	if own.Stack.Size == 0 || own.Stack.Contains(sp) {
		return
	}
	for i := range u.d.Threads {
		if t := &u.d.Threads[i]; i != u.stack.Thread && t.Stack.Contains(sp) && !own.Stack.Contains(t.Stack.Addr) {
			u.stack.Notes = append(u.stack.Notes, fmt.Sprintf("the stack pointer, %#x, is in the stack of thread %d, at %s", sp, t.ID, u.rangeText(t.Stack)))
			return
		}
	}
}

func (u *unwinder) noteNoMemory(sp uint64) {
	text := fmt.Sprintf("the stack pointer, %#x, is not in memory that the dump has", sp)
	if m := u.d.MappingAt(sp); m != nil {
		text += ", in the mapping " + u.mappingText(m)
	} else if len(u.d.Maps) > 0 {
		text += ", and in no mapping"
	}
	u.stack.Notes = append(u.stack.Notes, text)
}

// overflow returns a note if the stack has overflowed, else "".
func (u *unwinder) overflow() string {
	crash := u.d.Crash
	if crash == nil || u.d.CrashedThread() != u.stack.Thread {
		return ""
	}
	sp := u.frame.SP
	stack, known := u.stackAbove(sp)
	sure, possible := u.overflowCode(crash)
	if !sure && (!possible || !known || !u.overran(crash, stack)) {
		return ""
	}
	text := fmt.Sprintf("stack overflow: the stack pointer is %#x", sp)
	if known {
		text += fmt.Sprintf(", the stack %s", u.rangeText(stack))
	}
	return text
}

// overflowCode reports whether the code of a crash means that a stack has overflowed, or that it
// may have.
func (u *unwinder) overflowCode(c *dump.Crash) (sure, possible bool) {
	switch u.d.System.OS {
	case dump.Windows:
		return c.Code == windowsStackOverflow, c.Code == windowsAccessViolation || c.Code == windowsGuardPage
	case dump.Linux, dump.Android:
		return false, c.Code == linuxSIGSEGV || c.Code == linuxSIGBUS
	case dump.MacOS, dump.IOS:
		return false, c.Code == machBadAccess
	}
	return false, false
}

// overran reports whether the crash accessed memory below the stack that is not writable and near
// the stack pointer.
func (u *unwinder) overran(c *dump.Crash, stack dump.Range) bool {
	sp := u.frame.SP
	fault := c.Address
	if !c.HasAddress {
		fault = sp
	}
	if fault >= stack.Addr || stack.Addr-fault > maxOver || max(fault, sp)-min(fault, sp) > nearSP {
		return false
	}
	if len(u.d.Maps) == 0 {
		return u.d.Memory.Find(fault) == nil
	}
	m := u.d.MappingAt(fault)
	return m == nil || !m.Write
}

// stackAbove returns the stack that a stack pointer is in, or has left at its lower end. The stack
// is known from the thread's own information on Windows, from the mappings, or from the dump's
// memory.
func (u *unwinder) stackAbove(sp uint64) (dump.Range, bool) {
	if r, ok := u.windowsStack(); ok && sp < r.Addr+r.Size && r.Addr-min(sp, r.Addr) <= maxOver {
		return r, true
	}
	if len(u.d.Maps) > 0 {
		m := u.d.MappingAt(sp)
		for range maxGuards {
			if m != nil && !m.Write {
				m = u.d.MappingAt(m.Addr + m.Size)
			}
		}
		if m == nil {
			m = u.d.MappingAbove(sp)
		}
		if m == nil || !m.Write || m.Exec && m.Path != "[stack]" || m.Addr > sp && m.Addr-sp > maxOver {
			return dump.Range{}, false
		}
		return m.Range, true
	}
	r := u.d.Threads[u.stack.Thread].Stack
	if r.Size == 0 || !r.Contains(sp) && (r.Addr < sp || r.Addr-sp > maxOver) {
		return dump.Range{}, false
	}
	return r, true
}

// windowsStack reads the limits of the thread's stack from its TEB: StackBase, the end, and
// DeallocationStack, the start.
func (u *unwinder) windowsStack() (r dump.Range, ok bool) {
	teb := u.d.Threads[u.stack.Thread].TEB
	if u.d.System.OS != dump.Windows || teb == 0 {
		return r, false
	}
	word := uint64(u.cpu.Arch.PtrSize)
	start := uint64(0x1478)
	if word == 4 {
		start = 0xe0c
	}
	high, ok1 := u.ReadWord(teb + word)
	low, ok2 := u.ReadWord(teb + start)
	if !ok2 { // the committed part
		low, ok2 = u.ReadWord(teb + 2*word)
	}
	if !ok1 || !ok2 || low >= high {
		return r, false
	}
	return dump.Range{Addr: low, Size: high - low}, true
}

// nextMemory returns sp itself or, if the dump has no memory there, as in a guard page, the start of
// the next region of memory.
func (u *unwinder) nextMemory(sp uint64) uint64 {
	stack, ok := u.stackAbove(sp)
	next, known := u.d.Memory.Next(sp)
	if !ok || !known || next-sp > maxOver || !stack.Contains(next) {
		return sp
	}
	word := uint64(u.cpu.Arch.PtrSize)
	return (next + word - 1) &^ (word - 1)
}

func (u *unwinder) rangeText(r dump.Range) string {
	return fmt.Sprintf("%#x to %#x (%d bytes)", r.Addr, r.Addr+r.Size, r.Size)
}

func (u *unwinder) mappingText(m *dump.Mapping) string {
	permissions := []byte("---")
	for i, on := range []bool{m.Read, m.Write, m.Exec} {
		switch {
		case m.Unknown:
			permissions[i] = '?'
		case on:
			permissions[i] = "rwx"[i]
		}
	}
	text := u.rangeText(m.Range) + " " + string(permissions)
	if m.Path != "" {
		text += fmt.Sprintf(" %q", m.Path)
	}
	return text
}
