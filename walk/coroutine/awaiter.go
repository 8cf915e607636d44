package coroutine

import (
	"slices"

	"github.com/symtool/symtool/walk/dump"
)

// Kind is a kind of coroutines.
type Kind uint8

// The kinds. Those with a stack of their own have no Layout, and the Addr of their Frame is that of their saved
// registers: a ucontext_t, or the stack pointer that Boost.Context has returned.
const (
	NoKind   Kind = iota
	CXX20         // a frame that a compiler of C++20 laid out
	UContext      // left by swapcontext, or made by makecontext
	FContext      // left by a function of Boost.Context
)

var kindNames = [...]string{"", "c++20", "ucontext", "fcontext"}

// String returns the name for outputs.
func (k Kind) String() string { return kindNames[k] }

// Coroutine is a coroutine with what is known about its frame.
type Coroutine struct {
	Frame
	Kind    Kind
	Layout  *Layout // nil if the symbols do not have the frame's type
	Awaiter int     // index of the coroutine that goes on when this one has finished, or -1
	Several bool    // the promise has handles of several coroutines: which one goes on is not known
	Thread  int     // index in Dump.Threads of the thread that runs it, or -1
}

// State returns "running", "finished" or "suspended".
func (c *Coroutine) State() string {
	switch {
	case c.Thread >= 0:
		return "running"
	case c.Kind == CXX20 && c.Finished():
		return "finished"
	}
	return "suspended"
}

// These limit the work of SetAwaiters: the bytes of all promises, and the handles that are looked at in one.
const (
	maxPromises = 1 << 30
	maxHandles  = 4
)

// SetAwaiters finds the coroutine that waits for each of a dump's coroutines: the only one whose handle is in the
// promise. A promise may also have the handle of a coroutine that this one waits for; such a coroutine is also held by
// the frame outside of the promise, and does not hold this one.
func SetAwaiters(d *dump.Dump, all []Coroutine) {
	at := make(map[uint64]int, len(all))
	for i := range all {
		at[all[i].Addr] = i
	}
	left := int64(maxPromises)
	for i := range all {
		c := &all[i]
		c.Awaiter = -1
		if c.Layout == nil || c.Finished() {
			continue
		}
		promise := c.Layout.Promise
		var found []int
		if left -= int64(min(promise.Size, maxFrame)); left < 0 {
			c.Several = true
			continue
		}
		for word := range words(d, c.Addr+promise.Addr, promise.Size) {
			if k, ok := at[word]; ok && k != i && !all[k].Finished() && !slices.Contains(found, k) {
				if found = append(found, k); len(found) == maxHandles {
					break
				}
			}
		}
		found = slices.DeleteFunc(found, func(k int) bool { return c.holds(d, &all[k]) && !all[k].holds(d, c) })
		switch len(found) {
		case 0:
		case 1:
			c.Awaiter = found[0]
		default:
			c.Several = true
		}
	}
}

// holds reports whether the frame, outside of its promise, has the handle of another coroutine.
func (c *Coroutine) holds(d *dump.Dump, other *Coroutine) bool {
	if c.Layout == nil {
		return false
	}
	after := c.Layout.Promise.Addr + c.Layout.Promise.Size
	if after > c.Layout.Size {
		return false
	}
	for word := range words(d, c.Addr+after, c.Layout.Size-after) {
		if word == other.Addr {
			return true
		}
	}
	return false
}

// maxFrame limits how much of a frame is searched.
const maxFrame = 1 << 16

// words yields the aligned words of a range of memory.
func words(d *dump.Dump, addr, size uint64) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		step := uint64(d.Arch.PtrSize)
		end := addr + min(size, maxFrame)
		for at := (addr + step - 1) &^ (step - 1); at+step <= end; at += step {
			if word, ok := d.Memory.Word(at, int(step)); ok && !yield(word) {
				return
			}
		}
	}
}
