package minidump

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// LLDB writes a variant of minidumps (llvm,
// lldb/source/Plugins/ObjectFile/Minidump/MinidumpFileBuilder.cpp), which it marks with an empty
// stream. It has an exception stream for each thread that stopped for a reason, with text instead
// of parameters and the instruction's address instead of the accessed one; only the size of the
// first segment of modules; and the stacks of some threads in the memory list only.

// lldbMark is the type of the stream, and the flags of exceptions: "LLDB".
const lldbMark = 0x4c4c4442

// vdso is Breakpad's name for the library that the kernel maps into a process.
const vdso = "linux-gate.so"

// lldbText is the key of the annotation with the text of LLDB's exception stream.
const lldbText = "reason given by LLDB"

// lldbCrash converts LLDB's form of an exception to the usual one.
func (r *reader) lldbCrash(c *dump.Crash, text []byte) {
	text, _, _ = bytes.Cut(text, []byte{0})
	c.Flags, c.Address, c.HasAddress, c.Params = 0, 0, false, nil
	if _, at, ok := strings.Cut(string(text), "(fault address="); ok {
		at, _, _ = strings.Cut(at, ")")
		addr, err := strconv.ParseUint(at, 0, 64)
		c.Address, c.HasAddress = addr, err == nil
	}
	if len(text) > 0 {
		r.d.Annotations = append(r.d.Annotations, dump.Annotation{Key: lldbText, Value: string(text)})
	}
}

// otherExceptions sets the signals of the threads of LLDB's other exception streams. The first that
// is not SIGSTOP is the crash.
func (r *reader) otherExceptions() {
	const stop = 19 // SIGSTOP
	crash, annotations := r.d.Crash, r.d.Annotations
	signals := map[uint32]int{}
	for _, s := range r.exceptions {
		r.d.Crash, r.d.Annotations = nil, nil
		r.exception(s)
		c := r.d.Crash
		if c == nil {
			continue
		}
		signals[c.Thread] = int(c.Code)
		if crash == nil || crash.Code == stop && c.Code != stop {
			crash, annotations = c, r.d.Annotations
		}
	}
	r.d.Crash, r.d.Annotations = crash, annotations
	for i := range r.d.Threads {
		t := &r.d.Threads[i]
		t.Signal = signals[t.ID]
	}
}

// nameVDSO gives the kernel's library the name that other programs use.
func (r *reader) nameVDSO() {
	for i := range r.modules {
		if m := &r.modules[i]; strings.HasPrefix(m.Path, "[vdso]") {
			m.Path, m.DebugFile = vdso, vdso
		}
	}
}

// ownStack finds the stack of a thread for which LLDB did not write one.
func (r *reader) ownStack(t *dump.Thread) {
	if t.Stack.Size > 0 || t.Context == nil {
		return
	}
	if m := r.d.Memory.Find(t.Context.SP()); m != nil {
		t.Stack = dump.Range{Addr: m.Addr, Size: uint64(len(m.Data))}
	}
}
