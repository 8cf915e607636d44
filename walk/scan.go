package walk

import (
	"slices"

	"github.com/symtool/symtool/internal/unwind/code"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// The number of words of the stack that are searched for a return address, as in Breakpad, whose loop includes the last
// word. It is larger for a frame that made no call, which may have a large array, and, as in rust-minidump, for a frame
// outside modules, because code generated at run time has no rules. It is larger still for a frame whose size depends
// on that of vectors, which is not known: 16 vectors and 16 predicates of SVE's maximum size are 4.5 KiB.
const (
	scanWords        = 41
	scanWordsContext = 161
	scanWordsVectors = 1024
)

// maxGap is the largest distance in bytes from a saved frame pointer to the frame to which it points that a scan
// accepts: more than 99.5 % of frames are smaller (Breakpad's stackwalker_x86.cc).
const maxGap = 128 << 10

// byScan takes the first word of the stack that looks like a return address.
func byScan(u *unwinder, f *Frame) outcome {
	if !u.may[ByScan] {
		return nothing
	}
	start, words := u.scanRange()
	word := uint64(u.cpu.Arch.PtrSize)
	for i := range words {
		addr := start + uint64(i)*word
		pc, ok := u.ReadWord(addr)
		if !ok || addr < start {
			break
		}
		if pc = u.clean(pc); !u.isReturn(pc) || u.isNowhere(pc) || u.isPointer(pc) {
			continue
		}
		if u.cpu.ScanFP != cpu.NoFP {
			u.scanFramePointer(addr)
		}
		u.leave(f, pc, addr+word)
		f.Trust, f.By = TrustScan, ByScan
		return found
	}
	u.note("%v: no return address in %d words at %#x", ByScan, words, start)
	return nothing
}

// isPointer reports whether an address that follows a call is a pointer to a function rather than a return address: a
// function begins there, and the call before it, which then does not return, leads to another function than the frame's.
func (u *unwinder) isPointer(pc uint64) bool {
	start := u.frame.Start
	if start == 0 || u.frame.Guess || u.frame.Handler || !code.FollowsCPU(u.cpu.Arch) {
		return false
	}
	i := u.d.ModuleAt(pc)
	if i < 0 {
		return false
	}
	st, at := u.stateOf(i), rva(pc-u.d.Modules[i].Addr)
	r := st.names(u.ctx)
	if r == nil {
		return false
	}
	if p := u.places.find(u.ctx, r, at); !p.found || p.err != nil || p.at.Start != at {
		return false
	}
	called := u.memoryCode().process.Called(pc)
	return len(called) > 0 && !slices.Contains(called, start)
}

// scanRange returns the start of a scan and its length in words. If rules give a CFA, the scan starts there: below it
// is the frame itself, whose return addresses are left over from calls that have returned.
func (u *unwinder) scanRange() (start uint64, words int) {
	word := uint64(u.cpu.Arch.PtrSize)
	start, words = u.frame.SP, scanWords
	if u.frame.Interrupted || u.frame.Module < 0 && u.frame.Trust == TrustCFI {
		words = scanWordsContext
	}
	if u.lacks != "" {
		words = scanWordsVectors
	}
	if u.cpu.ScanBytes > 0 {
		words = u.cpu.ScanBytes / int(word)
	}
	if !u.frame.Interrupted {
		start, words = start+u.cpu.ArgWords*word, words-int(u.cpu.ArgWords)
	}
	if u.cfa > start && u.cfa%word == 0 {
		start = u.cfa
	}
	if _, ok := u.ReadWord(start); !ok {
		start = u.nextMemory(start)
	}
	return start, words
}

// scanFramePointer finds the caller's frame pointer on x86 and x86-64, after a scan has found the return address. The
// frame pointer is in the word below if the function saved it first; on x86-64 this counts only if the frame's own
// frame pointer leads there. Otherwise the function may not have changed it.
func (u *unwinder) scanFramePointer(addr uint64) {
	word := uint64(u.cpu.Arch.PtrSize)
	fp := u.cpu.Layouts[0].Base
	last, known := u.in.Get(fp)
	saved, _ := u.ReadWord(addr - word)
	if below := addr > u.frame.SP; below && (u.cpu.ScanFP == cpu.FPBelow || known && last == addr-word) {
		if saved > addr && saved-addr <= maxGap && u.isFramePointer(saved, addr+word) {
			u.out.Set(fp, saved)
			return
		}
	}
	if known && u.isFramePointer(last, addr+word) {
		u.out.Set(fp, last)
	}
}
