package dump

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/symtool/symtool/symfmt/arch"
)

// No format of dumps can represent everything that the others can. Writers put the remainder, which
// is small, into symtool's own note or stream, as JSON: other programs skip it, and our readers
// restore the original dump.

// Owner and type of the note, and type of the stream.
const (
	RestOwner = "symtool"
	RestType  = 0x53594d54 // "SYMT"
)

const restVersion = 1

// rest is everything except registers and memory, plus the registers that a format cannot
// represent.
type rest struct {
	Version     int
	Arch        string `json:",omitempty"` // used if the format has no number for it
	System      System
	Time        time.Time
	Process     Process
	Tags        uint64       `json:",omitempty"`
	Threads     []restThread // in the order of the dump
	Modules     []Module
	Main        int
	Unloaded    []Module     `json:",omitempty"`
	Memory      []Range      // without the memory that a writer added for other programs
	Maps        []Mapping    `json:",omitempty"`
	Crash       *restCrash   `json:",omitempty"`
	Requester   *uint32      `json:",omitempty"`
	Writer      *uint32      `json:",omitempty"`
	Auxv        []Aux        `json:",omitempty"`
	Linker      *Linker      `json:",omitempty"`
	Files       []File       `json:",omitempty"`
	Annotations []Annotation `json:",omitempty"`
	Assertion   *Assertion   `json:",omitempty"`
	Comment     string       `json:",omitempty"`
	Kernel      *Kernel      `json:",omitempty"`
	ReportID    string       `json:",omitempty"`
	ClientID    string       `json:",omitempty"`
	Handles     int          `json:",omitempty"`
}

type restThread struct {
	Thread          // without its Context
	Registers *regs `json:",omitempty"`
}

type restCrash struct {
	Crash           // without its Context
	Registers *regs `json:",omitempty"`
	Own       bool  // the crash's registers differ from its thread's
}

// regs are the changes to make to a Context that was read.
type regs struct {
	Set     map[string]uint64 `json:",omitempty"`
	Wide    map[string][]byte `json:",omitempty"` // registers of Context.Blocks
	Unknown []string          `json:",omitempty"`
	Vector  []byte            `json:",omitempty"` // if All
	All     bool              // Set has all registers, rather than changes
}

// Holding describes what a format can represent.
type Holding struct {
	// Register reports whether the format's contexts have a register, given as an index in
	// Arch.Regs.
	Register func(reg int) bool
	// Blocks reports whether the format represents the Blocks of a context.
	Blocks func(*Context) bool
	// OneContext means that a thread and its crash share a single context, the crash's.
	OneContext bool
}

// Rest returns, as JSON, what a format cannot represent.
func (d *Dump) Rest(format Holding) ([]byte, error) {
	holds := format.Register
	v := rest{
		Version: restVersion, System: d.System, Time: d.Time, Process: d.Process, Tags: d.Tags, Modules: d.Modules, Main: d.Main, Unloaded: d.Unloaded,
		Maps: d.Maps, Auxv: d.Auxv, Linker: d.Linker, Files: d.Files, Annotations: d.Annotations, Assertion: d.Assertion,
		Comment: d.Comment, Kernel: d.Kernel, ReportID: d.ReportID, ClientID: d.ClientID, Handles: d.Handles,
	}
	keep := func(c *Context) *regs { return changes(c, format) }
	if d.Arch != nil {
		if v.Arch = d.Arch.Name; !holdsAny(d.Arch, holds) {
			keep = all
		}
	}
	crashed := d.CrashedThread()
	v.Threads = slices.Grow(v.Threads, len(d.Threads))
	for i, t := range d.Threads {
		r := restThread{Thread: t, Registers: keep(t.Context)}
		r.Context = nil
		if i == crashed && format.OneContext && d.Crash.Context != nil && !Same(t.Context, d.Crash.Context) {
			r.Registers = all(t.Context)
		}
		v.Threads = append(v.Threads, r)
	}
	v.Memory = slices.Grow(v.Memory, len(d.Memory.Regions))
	for _, m := range d.Memory.Regions {
		v.Memory = append(v.Memory, Range{m.Addr, uint64(len(m.Data))})
	}
	if d.Crash != nil {
		v.Crash = &restCrash{Crash: *d.Crash, Registers: keep(d.Crash.Context)}
		v.Crash.Own = crashed < 0 || !Same(d.Crash.Context, d.Threads[crashed].Context)
		if v.Crash.Context = nil; d.Crash.Context == nil {
			v.Crash.Registers = all(nil)
		}
	}
	if d.HasRequester {
		v.Requester = &d.Requester
	}
	if d.HasWriter {
		v.Writer = &d.Writer
	}
	return marshal(&v)
}

// marshal is like json.Marshal, but computes the size first and allocates the buffer once.
// json.Marshal's buffer doubles until it holds megabytes of mappings.
func marshal(v any) ([]byte, error) {
	var size counter
	if err := jsonv2.MarshalWrite(&size, v, jsonv1.DefaultOptionsV1()); err != nil {
		return nil, err
	}
	out := make(appender, 0, size)
	err := jsonv2.MarshalWrite(&out, v, jsonv1.DefaultOptionsV1())
	return out, err
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// appender collects the bytes that are written to it.
type appender []byte

func (a *appender) Write(b []byte) (int, error) {
	*a = append(*a, b...)
	return len(b), nil
}

// Same reports whether two contexts have the same registers.
func Same(a, b *Context) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Arch == b.Arch && slices.Equal(a.values, b.values) && slices.Equal(a.known, b.known) && bytes.Equal(a.Vector, b.Vector) &&
		maps.EqualFunc(a.wide(), b.wide(), bytes.Equal)
}

// wide returns the registers of Blocks.
func (c *Context) wide() map[string][]byte {
	var all map[string][]byte
	for _, reg := range c.InBlocks() {
		if all == nil {
			all = map[string][]byte{}
		}
		all[c.Arch.Regs[reg].Name] = c.Bytes(reg)
	}
	return all
}

// holdsAny reports whether a format has contexts for a CPU at all.
func holdsAny(a *arch.Arch, holds func(int) bool) bool {
	for i := range a.Regs {
		if holds(i) {
			return true
		}
	}
	return false
}

func changes(c *Context, format Holding) *regs {
	if c == nil {
		return nil
	}
	var r regs
	holds := format.Register
	if format.Blocks == nil || !format.Blocks(c) {
		r.Wide = c.wide()
	}
	for i, reg := range c.Arch.Regs {
		switch v, ok := c.At(i); {
		case ok && !holds(i):
			r.set(reg.Name, v)
		case !ok && holds(i):
			r.Unknown = append(r.Unknown, reg.Name)
		}
	}
	if r.Set == nil && r.Unknown == nil && r.Wide == nil {
		return nil
	}
	return &r
}

func all(c *Context) *regs {
	r := regs{All: true}
	if c == nil {
		return &r
	}
	r.Vector, r.Wide = c.Vector, c.wide()
	for i, reg := range c.Arch.Regs {
		if v, ok := c.At(i); ok {
			r.set(reg.Name, v)
		}
	}
	return &r
}

func (r *regs) set(name string, v uint64) {
	if r.Set == nil {
		r.Set = map[string]uint64{}
	}
	r.Set[name] = v
}

// apply returns the original registers.
func (r *regs) apply(c *Context, d *Dump) *Context {
	if r == nil || d.Arch == nil {
		return c
	}
	switch {
	case r.All && len(r.Set) == 0:
		return nil
	case r.All:
		c = NewContext(d.Arch)
		c.Vector = r.Vector
	case c == nil:
		return nil
	default:
		c = c.Clone()
	}
	for name, v := range r.Set {
		c.Set(name, v)
	}
	r.applyWide(c)
	for _, name := range r.Unknown {
		c.Unset(name)
	}
	return c
}

// applyWide adds the registers that are wider than a word.
func (r *regs) applyWide(c *Context) {
	values := map[int][]byte{}
	for name, b := range r.Wide {
		if i, ok := c.Arch.RegIndex(name); ok && len(b) > 0 {
			values[i] = b
		}
	}
	if len(values) > 0 {
		c.SetBytes(values)
	}
}

// ApplyRest replaces fields of the dump with the data that Rest returned.
func (d *Dump) ApplyRest(data []byte) error {
	var v rest
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if v.Version != restVersion {
		return fmt.Errorf("version %d, want %d", v.Version, restVersion)
	}
	d.System, d.Time, d.Process, d.Tags, d.Unloaded, d.Maps = v.System, v.Time, v.Process, v.Tags, v.Unloaded, v.Maps
	d.Auxv, d.Linker, d.Files, d.Annotations, d.Assertion = v.Auxv, v.Linker, v.Files, v.Annotations, v.Assertion
	d.Comment, d.Kernel, d.ReportID, d.ClientID, d.Handles = v.Comment, v.Kernel, v.ReportID, v.ClientID, v.Handles
	if d.Arch == nil {
		d.Arch = arch.ByName(v.Arch)
	}
	if int(d.System.OS) >= len(osNames) {
		d.System.OS = UnknownOS
	}
	if d.HasRequester = v.Requester != nil; d.HasRequester {
		d.Requester = *v.Requester
	}
	if d.HasWriter = v.Writer != nil; d.HasWriter {
		d.Writer = *v.Writer
	}
	slices.SortStableFunc(d.Unloaded, ByAddr)
	SortMappings(d.Maps)
	d.SetModules(v.Modules, v.Main)
	d.keepMemory(v.Memory)
	read := d.Crash
	d.applyThreads(v.Threads)
	d.applyCrash(v.Crash, read)
	return nil
}

// applyThreads completes the threads and puts them into their order.
func (d *Dump) applyThreads(list []restThread) {
	byID := make(map[uint32]*Thread, len(d.Threads))
	for i := range d.Threads {
		byID[d.Threads[i].ID] = &d.Threads[i]
	}
	var threads []Thread
	for _, t := range list {
		read := byID[t.ID]
		if read == nil {
			continue // damaged, or not in the dump
		}
		delete(byID, t.ID)
		t.Thread.Context = t.Registers.apply(read.Context, d)
		threads = append(threads, t.Thread)
	}
	for i := range d.Threads { // threads that the rest does not list
		if t := &d.Threads[i]; byID[t.ID] == t {
			threads = append(threads, *t)
		}
	}
	d.Threads = threads
	for i := range threads {
		if d.Memory.Find(threads[i].Stack.Addr) == nil {
			threads[i].Stack = Range{}
		}
	}
}

func (d *Dump) applyCrash(v *restCrash, read *Crash) {
	if d.Crash = nil; v == nil {
		return
	}
	crash := v.Crash
	d.Crash = &crash
	switch i := d.CrashedThread(); {
	case !v.Own && i >= 0:
		crash.Context = d.Threads[i].Context
	case read != nil:
		crash.Context = v.Registers.apply(read.Context, d)
	}
}

// keepMemory drops the memory outside ranges.
func (d *Dump) keepMemory(ranges []Range) {
	slices.SortFunc(ranges, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	var kept []Region
	for _, m := range d.Memory.Regions {
		for len(ranges) > 0 && len(m.Data) > 0 {
			want := ranges[0]
			end := want.Addr + min(want.Size, math.MaxUint64-want.Addr)
			if end <= m.Addr {
				ranges = ranges[1:]
				continue
			}
			if want.Addr > m.Addr {
				skip := min(want.Addr-m.Addr, uint64(len(m.Data)))
				m = Region{m.Addr + skip, m.Data[skip:]}
				continue
			}
			n := min(end-m.Addr, uint64(len(m.Data)))
			kept = append(kept, Region{m.Addr, m.Data[:n:n]})
			m = Region{m.Addr + n, m.Data[n:]}
		}
	}
	d.Memory = NewMemory(d.Order, kept)
}
