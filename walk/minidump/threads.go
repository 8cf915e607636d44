package minidump

import (
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/dump"
)

func (r *reader) threadList(s span) {
	const size = 48 // MINIDUMP_THREAD
	r.list(s, size, func(i, n int, c *bin.Cursor) {
		r.d.Threads = slices.Grow(r.d.Threads, n-i)
		r.stacks = slices.Grow(r.stacks, n-i)
		var t dump.Thread
		t.ID, t.Suspend, t.Class, t.Prio, t.TEB = c.U32(), c.U32(), c.U32(), c.U32(), c.U64()
		t.Stack.Addr = c.U64()
		stack := place(c)
		t.Stack.Size = stack.size
		t.Context = r.context(place(c), label{"the registers of thread", i})
		if stack.off != 0 { // in a dump of all memory, the stack is part of that
			region, _ := r.region(t.Stack.Addr, stack, label{"the stack of thread", i})
			r.stacks = append(r.stacks, region)
		}
		r.d.Threads = append(r.d.Threads, t)
	})
}

// boundStack limits a thread's stack to the memory region in which it begins, and clears it if
// the dump lacks that memory. In a dump of all memory, the thread has only the stack's address
// and size.
func (r *reader) boundStack(t *dump.Thread) {
	region := r.d.Memory.Find(t.Stack.Addr)
	if region == nil {
		t.Stack = dump.Range{}
		return
	}
	t.Stack.Size = min(t.Stack.Size, region.End()-t.Stack.Addr)
}

// threadName is the name of the thread with an id.
type threadName struct {
	id   uint32
	name string
}

func (r *reader) threadNames(s span) {
	const size = 12 // MINIDUMP_THREAD_NAME
	r.list(s, size, func(i, n int, c *bin.Cursor) {
		r.names = slices.Grow(r.names, n-i)
		id := c.U32()
		r.names = append(r.names, threadName{id, r.text(c.U64(), label{"thread name", i})})
	})
}

func (r *reader) nameThreads() {
	names := make(map[uint32]string, len(r.names))
	for _, n := range r.names {
		names[n.id] = n.name
	}
	for i := range r.d.Threads {
		r.d.Threads[i].Name = names[r.d.Threads[i].ID]
	}
}

func (r *reader) exception(s span) {
	c := r.cursor(s)
	crash := &dump.Crash{Thread: c.U32()}
	c.Skip(4)
	crash.Code, crash.Flags = c.U32(), c.U32()
	c.Skip(8) // address of another exception's record
	crash.Address, crash.HasAddress = c.U64(), true
	count := c.U32()
	c.Skip(4)
	var params [15]uint64
	const paramsAt = 40
	for i := range params {
		params[i] = c.U64()
	}
	context := place(&c)
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	if count > uint32(len(params)) {
		r.problemf("parameters of the exception", s.off+32, "%d parameters, want at most %d", count, len(params))
		count = uint32(len(params))
	}
	if count > 0 {
		crash.Params = params[:count:count]
	}
	r.accessed(crash)
	if r.lldb && crash.Flags == lldbMark {
		r.lldbCrash(crash, s.data[paramsAt:paramsAt+8*len(params)])
	}
	if context.size != 0 {
		crash.Context = r.context(context, label{"the registers at the crash", -1})
	}
	r.d.Crash = crash
}

// accessed sets the crash's address to the accessed address, if Windows records it, and truncates
// it to 32 bits on 32-bit CPUs.
func (r *reader) accessed(c *dump.Crash) {
	const accessViolation, inPageError = 0xc0000005, 0xc0000006
	if r.d.System.OS == dump.Windows && (c.Code == accessViolation || c.Code == inPageError) && len(c.Params) > 1 {
		c.Address = c.Params[1]
	}
	if r.d.Arch != nil && r.d.Arch.PtrSize == 4 {
		c.Address = uint64(uint32(c.Address))
	}
}
