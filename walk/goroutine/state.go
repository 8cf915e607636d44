package goroutine

import (
	"github.com/symtool/symtool/walk/dump"
)

// numbers reads the members of a structure, until one cannot be read.
type numbers struct {
	o   *object
	err error
}

func (n *numbers) get(name string) uint64 {
	if n.err != nil {
		return 0
	}
	v, err := n.o.number(name)
	n.err = err
	return v
}

// goroutine reads a runtime.g.
func (r *reader) goroutine(o *object) (g Goroutine, err error) {
	n := numbers{o: o}
	g.ID = n.get("goid")
	status := n.get("atomicstatus")
	reason := n.get("waitreason")
	g.Start = n.get("startpc")
	if n.err != nil {
		return g, n.err
	}
	g.Status = Status(status &^ scan)
	if (g.Status == Waiting || g.Status == Leaked) && reason < uint64(len(r.waiting)) && reason > 0 {
		g.Wait = r.waiting[reason]
	}
	if g.Stack, err = stackOf(o); err != nil {
		return g, err
	}
	if err = r.thread(o, &g); err != nil {
		return g, err
	}
	if g.Sched, err = r.scheduled(o); err != nil {
		return g, err
	}
	g.Saved, err = r.saved(o, &g)
	return g, err
}

// stackOf returns the stack of a goroutine.
func stackOf(o *object) (dump.Range, error) {
	stack, err := o.member("stack")
	if err != nil {
		return dump.Range{}, err
	}
	n := numbers{o: &stack}
	lo, hi := n.get("lo"), n.get("hi")
	if n.err != nil || hi < lo {
		return dump.Range{}, n.err
	}
	return dump.Range{Addr: lo, Size: hi - lo}, nil
}

// thread finds the thread that runs a goroutine or waits for it, and the stack pointer of its own stack.
func (r *reader) thread(o *object, g *Goroutine) error {
	g.Thread, g.Locked = -1, -1
	pointer, err := o.member("m")
	if err != nil {
		return err
	}
	i := &g.Thread
	at, err := pointer.uint()
	if g.Status != Running && g.Status != Syscall && g.Status != CopyStack {
		i = &g.Locked
		if !o.has("lockedm") {
			return nil
		}
		at, err = o.number("lockedm")
	}
	if at == 0 || err != nil {
		return err
	}
	m, err := pointer.at(pointer.name, at, pointer.typ.Elem)
	if err != nil {
		return err
	}
	id, err := m.number("procid")
	if err != nil {
		return err
	}
	if thread, ok := r.threads[uint32(id)]; ok && id != 0 {
		*i, g.SystemSP = thread, systemSP(&m)
	}
	return nil
}

// systemSP returns the stack pointer that the goroutine g0 of a thread, a runtime.m, has saved. Only callbacks from C
// need it, so 0 is not damage.
func systemSP(m *object) uint64 {
	pointer, err := m.member("g0")
	if err != nil {
		return 0
	}
	g0, err := pointer.target()
	if err != nil {
		return 0
	}
	sched, err := g0.member("sched")
	if err != nil {
		return 0
	}
	sp, _ := sched.number("sp")
	return sp
}

// saved returns the registers that the runtime saved for a goroutine: in a system call or a call of C, the registers
// at that call, otherwise those with which the goroutine will be scheduled.
func (r *reader) saved(o *object, g *Goroutine) (*dump.Context, error) {
	cpu := r.f.Arch
	if g.Status == Syscall {
		c := dump.NewContext(cpu)
		n := numbers{o: o}
		pc, sp := n.get("syscallpc"), n.get("syscallsp")
		if n.err != nil {
			return nil, n.err
		}
		if sp != 0 {
			c.Set(cpu.PC, pc)
			c.Set(cpu.SP, sp)
			if o.has("syscallbp") { // since Go 1.23
				c.Set(cpu.FP, n.get("syscallbp"))
			}
			return c, n.err
		}
	}
	return g.Sched, nil
}

// scheduled returns the registers in the member sched, with which a goroutine continues after the scheduler ran on
// its thread, or nil.
func (r *reader) scheduled(o *object) (*dump.Context, error) {
	cpu := r.f.Arch
	sched, err := o.member("sched")
	if err != nil {
		return nil, err
	}
	n := numbers{o: &sched}
	pc, sp := n.get("pc"), n.get("sp")
	if n.err != nil || pc == 0 || sp == 0 {
		return nil, n.err
	}
	c := dump.NewContext(cpu)
	c.Set(cpu.PC, pc)
	c.Set(cpu.SP, sp)
	c.Set(cpu.FP, n.get("bp"))
	if cpu.RA != "" && sched.has("lr") {
		c.Set(cpu.RA, n.get("lr"))
	}
	return c, n.err
}
