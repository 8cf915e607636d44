package goroutine

import (
	"github.com/symtool/symtool/walk/dump"
)

// The indices of words of a runtime.g that have not moved since Go 1.7 (src/runtime/runtime2.go): stack, m and sched.
// The frame pointer is the last word of sched, which had one more word up to Go 1.24.
const (
	wordLo    = 0
	wordHi    = 1
	wordM     = 6
	wordSP    = 7
	wordPC    = 8
	wordSelf  = 9 // the runtime.g itself
	wordAfter = 11
	wordsFP   = 3 // relative to wordAfter

	wordG0 = 0 // in a runtime.m
)

// wordsRead is how many words of a runtime.g or runtime.m are searched for another word: more than any version has
// before it.
const wordsRead = 128

// OfThread returns the goroutine that a thread, an index in Dump.Threads, runs or waits for. g is the value of the
// register in which Go's code keeps the address of the goroutine's runtime.g, or of the thread's own g0. OfThread is
// for programs without debug information: it reads only words that are the same in all versions. It sets Thread,
// Locked, Stack, SystemSP and Sched in the result. It returns nil unless everything that it reads is consistent.
func OfThread(d *dump.Dump, g uint64, thread int) *Goroutine {
	r := bare{d}
	m := r.word(g, wordM)
	g0 := r.word(m, wordG0)
	if m == 0 || g0 == 0 || r.word(g0, wordM) != m {
		return nil
	}
	for i := range uint64(wordsRead) {
		at := r.word(m, i)
		if at == g0 || !r.isG(at) {
			continue
		}
		out := r.goroutine(at)
		out.SystemSP = r.word(g0, wordSP)
		switch {
		case r.word(at, wordM) == m:
			out.Thread = thread
		case r.word(at, wordM) == 0 && r.refers(at, m):
			out.Locked = thread
		default:
			continue
		}
		return out
	}
	return nil
}

// bare reads words of the runtime.
type bare struct{ d *dump.Dump }

// word returns a word of a structure, or 0.
func (r bare) word(at, i uint64) uint64 {
	size := uint64(r.d.Arch.PtrSize)
	if at == 0 || at%size != 0 {
		return 0
	}
	v, _ := r.d.Memory.Word(at+i*size, int(size))
	return v
}

// isG reports whether the runtime.g of a goroutine that has run is at an address.
func (r bare) isG(at uint64) bool {
	lo, hi := r.word(at, wordLo), r.word(at, wordHi)
	return lo != 0 && lo < hi && r.word(at, wordSelf) == at
}

// refers reports whether the words of a runtime.g after its sched contain the address of a runtime.m, as its lockedm
// does.
func (r bare) refers(g, m uint64) bool {
	for i := uint64(wordAfter); i < wordsRead; i++ {
		if r.word(g, i) == m {
			return true
		}
	}
	return false
}

func (r bare) goroutine(at uint64) *Goroutine {
	lo, hi := r.word(at, wordLo), r.word(at, wordHi)
	out := &Goroutine{Stack: dump.Range{Addr: lo, Size: hi - lo}, Thread: -1, Locked: -1}
	sp, pc := r.word(at, wordSP), r.word(at, wordPC)
	if !out.Stack.Contains(sp) || pc == 0 {
		return out
	}
	cpu := r.d.Arch
	c := dump.NewContext(cpu)
	c.Set(cpu.PC, pc)
	c.Set(cpu.SP, sp)
	for i := range uint64(wordsFP) {
		if fp := r.word(at, wordAfter+i); out.Stack.Contains(fp) && fp >= sp {
			c.Set(cpu.FP, fp)
			break
		}
	}
	out.Sched = c
	return out
}
