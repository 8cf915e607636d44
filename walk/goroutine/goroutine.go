// Package goroutine finds the goroutines of a Go program in the memory of a dump: their states, and the registers from
// which their stacks can be walked. It takes the layout of the runtime's structures from debug information, so no
// version of Go needs special treatment. OfThread alone works without debug information.
package goroutine

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// The variables of the runtime that Read and OfThreads need.
const (
	allgs   = "runtime.allgs"
	allm    = "runtime.allm"
	reasons = "runtime.waitReasonStrings"
)

// Globals returns the names of the variables that Read and OfThreads need.
func Globals() []string { return []string{allgs, allm, reasons} }

// Goroutine is a goroutine that has not ended.
type Goroutine struct {
	ID     uint64
	Status Status
	Wait   string // why it waits, in the runtime's words; "" if it does not wait, or if the reason is unknown
	Start  uint64 // address of the function that it began with
	Stack  dump.Range

	// Thread is the index in Dump.Threads of the thread that runs it, or -1.
	Thread int
	// Locked is the index of the thread that runs no other goroutine and waits for this one to be scheduled, as a
	// thread does on which C has called Go, or -1.
	Locked int
	// SystemSP is the stack pointer that the Thread or Locked thread last had on its own stack, where C runs; 0 if it
	// is unknown.
	SystemSP uint64
	// Saved has the registers with which the goroutine continues when it is scheduled, or after a system call. They are
	// outdated if a thread runs the goroutine on its own stack. Saved is nil if they are unknown.
	Saved *dump.Context
	// Sched has the registers with which the goroutine left its stack for the scheduler's, or nil. In a system call
	// they differ from Saved.
	Sched *dump.Context
}

// Status is the state of a goroutine.
type Status uint8

// The states, with the runtime's numbers. The runtime documents that debuggers know these numbers
// (src/runtime/runtime2.go).
const (
	Idle      Status = 0 // being made
	Runnable  Status = 1
	Running   Status = 2
	Syscall   Status = 3
	Waiting   Status = 4
	Dead      Status = 6
	CopyStack Status = 8
	Preempted Status = 9
	Leaked    Status = 10 // waiting, and never to be woken
	DeadExtra Status = 11 // for threads that do not belong to the runtime

	scan = 0x1000 // the garbage collector reads its stack
)

var statusNames = map[Status]string{
	Idle: "idle", Runnable: "runnable", Running: "running", Syscall: "syscall", Waiting: "waiting", Dead: "dead",
	CopyStack: "copystack", Preempted: "preempted", Leaked: "leaked", DeadExtra: "dead",
}

// String returns the runtime's name of the status.
func (s Status) String() string {
	if name, ok := statusNames[s]; ok {
		return name
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// State returns the text between brackets in a Go traceback: why the goroutine waits, or its status.
func (g *Goroutine) State() string {
	if g.Wait != "" && (g.Status == Waiting || g.Status == Leaked) {
		return g.Wait
	}
	return g.Status.String()
}

// maxReason is the maximum length in bytes of a reason for waiting.
const maxReason = 256

// ErrNone is the error for a program without goroutines: it is not a Go program, or it has not begun.
var ErrNone = errors.New("no goroutines: runtime.allgs is empty")

// Read returns the goroutines of a dump that have not ended, in the runtime's order. globals has the variables of
// Globals. If the error is not nil, Read returns the goroutines that it could read.
func Read(d *dump.Dump, globals *eval.Frame) ([]Goroutine, error) {
	return newReader(d, globals).read()
}

func newReader(d *dump.Dump, globals *eval.Frame) *reader {
	r := &reader{d: d, f: globals, threads: map[uint32]int{}}
	for i := range d.Threads {
		r.threads[d.Threads[i].ID] = i
	}
	return r
}

type reader struct {
	d       *dump.Dump
	f       *eval.Frame
	threads map[uint32]int // index of each thread by its id
	waiting []string       // reasons
}

func (r *reader) read() (all []Goroutine, err error) {
	list, err := r.global(allgs)
	if err != nil {
		return nil, err
	}
	n, err := list.number("len")
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, ErrNone
	}
	array, err := list.member("array")
	if err != nil {
		return nil, err
	}
	first, err := array.uint()
	if err != nil {
		return nil, err
	}
	var unknown error
	if r.waiting, unknown = r.waitReasons(); unknown != nil {
		unknown = fmt.Errorf("what goroutines wait for is lost: %w", unknown)
	}
	all, err = r.each(&array, first, n)
	if err != nil && unknown != nil {
		err = fmt.Errorf("%w; %w", err, unknown)
	}
	return all, cmp.Or(err, unknown)
}

// each reads the goroutines to which the n pointers starting at address first point.
func (r *reader) each(array *object, first, n uint64) (all []Goroutine, err error) {
	if most := r.most(array); n > most {
		return nil, fmt.Errorf("%s has %d goroutines, but the dump has memory for %d", allgs, n, most)
	}
	lost := 0
	var because error
	for i := range n {
		name := fmt.Sprintf("%s[%d]", allgs, i)
		pointer, err := array.at(name, first+i*uint64(r.f.Arch.PtrSize), array.typ.Elem)
		if err != nil {
			return all, err
		}
		g, err := r.pointed(&pointer)
		if err != nil {
			if lost++; because == nil {
				because = err
			}
			continue
		}
		if g.Status != Dead && g.Status != Idle && g.Status != DeadExtra {
			all = append(all, g)
		}
	}
	if because != nil {
		because = fmt.Errorf("%d of %d goroutines are lost: %w", lost, n, because)
	}
	return all, because
}

// pointed reads the runtime.g to which a pointer points.
func (r *reader) pointed(pointer *object) (Goroutine, error) {
	o, err := pointer.target()
	if err != nil {
		return Goroutine{}, err
	}
	return r.goroutine(&o)
}

// most returns the maximum number of goroutines, given the dump's memory.
func (r *reader) most(array *object) (n uint64) {
	pointer, _ := r.f.Info.Plain(array.typ.Elem)
	if pointer == nil {
		return 0
	}
	size, ok := r.f.Info.SizeOf(pointer.Elem, r.f.Arch.PtrSize)
	if !ok || size == 0 {
		return 0
	}
	for i := range r.d.Memory.Regions {
		n += uint64(len(r.d.Memory.Regions[i].Data)) / size
	}
	for i := range r.d.Maps {
		if r.d.Memory.More != nil { // a live process
			n += r.d.Maps[i].Size / size
		}
	}
	return n
}

// global returns a variable of the runtime.
func (r *reader) global(name string) (object, error) {
	for _, v := range r.f.Depth(0) {
		if v.Name == name {
			if !v.Whole() {
				return object{}, fmt.Errorf("%s: %s", name, v.Why)
			}
			return typed(r.f, name, v.Type, v.Value)
		}
	}
	return object{}, fmt.Errorf("the debug information has no variable %s", name)
}

// waitReasons returns the runtime's reasons for waiting, by their numbers.
func (r *reader) waitReasons() (texts []string, err error) {
	list, err := r.global(reasons)
	if err != nil {
		return nil, err
	}
	counts := r.f.Counts(list.typ, nil)
	if list.typ.Kind != vars.Array || len(counts) != 1 {
		return nil, fmt.Errorf("%s: type %q is not an array", reasons, list.typ.Name)
	}
	size, ok := r.f.Info.SizeOf(list.typ.Elem, r.f.Arch.PtrSize)
	if !ok || size == 0 || counts[0] > uint64(len(list.value.Bytes))/size {
		return nil, fmt.Errorf("%s: the size of its elements is not known", reasons)
	}
	for i := range counts[0] {
		o, err := typed(r.f, fmt.Sprintf("%s[%d]", reasons, i), list.typ.Elem, list.value.Part(int(i*size), int(size)))
		if err != nil {
			return nil, err
		}
		text, err := o.text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}
