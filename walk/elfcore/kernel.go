package elfcore

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// ownerVMCoreInfo is the owner of the note that identifies the core of a kernel. /proc/vmcore has this note, and
// makedumpfile and QEMU write it.
const ownerVMCoreInfo = "VMCOREINFO"

// kernelName is the name of the kernel's binary with its symbols.
const kernelName = "vmlinux"

// kernelInfo holds the KEY=VALUE lines of a VMCOREINFO note (Linux, Documentation/admin-guide/kdump/vmcoreinfo.rst).
type kernelInfo map[string]string

func (r *reader) readVMCoreInfo(n note) {
	r.kernel = kernelInfo{}
	for line := range strings.Lines(string(n.desc)) {
		if key, value, ok := strings.Cut(strings.TrimRight(line, "\n\x00"), "="); ok {
			r.kernel[key] = value
		}
	}
	s := &r.d.System
	s.Version = r.kernel["OSRELEASE"]
	s.Build = "(a dump of the kernel)"
	if seconds, err := strconv.ParseInt(r.kernel["CRASHTIME"], 10, 64); err == nil {
		r.d.Time = time.Unix(seconds, 0).UTC()
	}
}

// hex returns a value that the kernel writes in hexadecimal.
func (k kernelInfo) hex(key string) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(k[key], "0x"), 16, 64)
	return v, err == nil
}

// number returns the value of NUMBER(key), which the kernel writes in decimal or, with 0x, in hexadecimal.
func (k kernelInfo) number(key string) (uint64, bool) {
	text := k["NUMBER("+key+")"]
	if v, err := strconv.ParseInt(text, 0, 64); err == nil {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(text, 0, 64)
	return v, err == nil
}

// nameCPUs turns the CPUs into threads. The kernel saves the registers of a CPU with the id of the task that it
// runs, which is 0 for each idle CPU.
func (r *reader) nameCPUs() {
	for i := range r.d.Threads {
		t := &r.d.Threads[i]
		t.Name = fmt.Sprintf("CPU %d", i)
		if t.ID != 0 {
			t.Name += fmt.Sprintf(", task %d", t.ID)
		}
		t.ID, t.Signal = uint32(i), 0
	}
}

// kernelModules returns the kernel itself: the segment with its code, at the address where it was loaded. The kernel's
// loadable modules are not listed.
func (r *reader) kernelModules() []dump.Module {
	text, ok := r.kernel.hex("SYMBOL(_stext)")
	if !ok {
		r.problem("the kernel's functions", 0, "VMCOREINFO does not have SYMBOL(_stext)")
		return nil
	}
	i := mapFrom(r.segments, text)
	if i == len(r.segments) || !r.segments[i].Contains(text) {
		r.problem("the kernel's functions", 0, "no PT_LOAD segment has the kernel's code at %#x", text)
		return nil
	}
	m := dump.Module{Range: r.segments[i].Range, Path: kernelName, DebugFile: kernelName}
	m.Bias, _ = r.kernel.hex("KERNELOFFSET")
	if id, err := hex.DecodeString(r.kernel["BUILD-ID"]); err == nil {
		r.identify(&m, id)
	}
	return []dump.Module{m}
}

// unlikeKernel returns why a file with the kernel's build-id does not agree with VMCOREINFO, or "".
func (r *reader) unlikeKernel(f *elfobj.File, m *dump.Module) string {
	text, _ := r.kernel.hex("SYMBOL(_stext)")
	base := f.LoadBase()
	if at := text - m.Bias; at >= base && at < f.LoadEnd() {
		return ""
	}
	why := fmt.Sprintf("its segments would be from %#x to %#x, and the kernel's code is at %#x", r.addr(base+m.Bias), r.addr(f.LoadEnd()+m.Bias), text)
	r.d.Problems = append(r.d.Problems, damage.Problem{Lost: "names of the kernel's functions", Err: &damage.Error{File: f.Path, Msg: why}})
	return why
}

// kernelStacks adds to memory the stacks that no segment has at their virtual addresses: most kernels allocate
// stacks page by page, and the core has those pages by their physical addresses.
func (r *reader) kernelStacks(memory []dump.Region) []dump.Region {
	known := dump.NewMemory(r.order(), memory)
	lost := 0
	var t *pageTables
	for i := range r.d.Threads {
		c := r.d.Threads[i].Context
		if c == nil || known.Find(c.SP()) != nil {
			continue
		}
		if t == nil {
			t = r.pageTables(memory)
		}
		pages, found := t.stack(c.SP())
		if !found {
			lost++
		}
		memory = append(memory, pages...)
	}
	if lost > 0 {
		why := "their pages are not in the core"
		switch {
		case r.d.Arch != arch.X86_64:
			why = "page tables of " + r.d.CPU() + " are not read"
		case t.root == 0:
			why = "VMCOREINFO does not say where the page tables are"
		}
		r.problem(fmt.Sprintf("the stacks of %d CPUs", lost), 0, "they are at addresses that no PT_LOAD segment has, and %s", why)
	}
	return memory
}

// pageTables translates addresses of a kernel for x86-64 (Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 3, section 4.5).
type pageTables struct {
	physical dump.Memory
	root     uint64 // physical address of the top-level table; 0 if unknown
	levels   int
	mask     uint64 // bits of an entry that are not part of an address

	stacks map[uint64]uint64 // pages of stacks found so far: their virtual by their physical address
}

const (
	pageBits       = 12
	entryBits      = 9 // of an address, for each level
	pagePresent    = 1
	pageLarge      = 1 << 7
	entryAddr      = 1<<52 - 1<<pageBits
	kernelMap      = 0xffffffff80000000 // where x86-64 maps the kernel (Linux, Documentation/arch/x86/x86_64/mm.rst)
	maxKernelStack = 64 << 10           // bytes of a kernel's stack, with sanitizers
)

// pageTables returns the page tables of the kernel.
func (r *reader) pageTables(memory []dump.Region) *pageTables {
	t := &pageTables{levels: 4, stacks: map[uint64]uint64{}}
	top, ok := r.kernel.hex("SYMBOL(swapper_pg_dir)")
	if !ok {
		top, ok = r.kernel.hex("SYMBOL(init_top_pgt)")
	}
	if r.d.Arch != arch.X86_64 || !ok {
		return t
	}
	base, _ := r.kernel.number("phys_base")
	t.root = top - kernelMap + base
	if n, _ := r.kernel.number("pgtable_l5_enabled"); n == 1 {
		t.levels = 5
	}
	t.mask, _ = r.kernel.number("sme_mask")
	var physical []dump.Region
	for p := range r.loadSegments() {
		off := min(p.Offset, uint64(len(r.data)))
		if n := min(p.FileSize, p.MemSize, uint64(len(r.data))-off); n > 0 {
			physical = append(physical, dump.Region{Addr: p.PhysAddr, Data: r.data[off : off+n : off+n]})
		}
	}
	t.physical = dump.NewMemory(r.order(), physical)
	return t
}

// stack returns the pages of a stack that were not returned before: from the page of the stack pointer on, up to the
// first that is not mapped or is another stack's. The kernel maps a page of a stack once, so page tables that map it
// again are damaged, and following them would make more memory than the core has. found reports whether the page of the
// stack pointer was returned, now or before.
func (t *pageTables) stack(sp uint64) (pages []dump.Region, found bool) {
	if t.root == 0 {
		return nil, false
	}
	first := sp &^ (pageSize - 1)
	for at := first; at-first < maxKernelStack; at += pageSize {
		phys, ok := t.translate(at)
		data := t.physical.Bytes(phys, pageSize)
		if !ok || len(data) < pageSize {
			break
		}
		known, again := t.stacks[phys]
		if again && known != at {
			break
		}
		if !again {
			t.stacks[phys] = at
			pages = append(pages, dump.Region{Addr: at, Data: data})
		}
		found = true
	}
	return pages, found
}

// translate returns the physical address for a virtual one.
func (t *pageTables) translate(addr uint64) (uint64, bool) {
	table := t.root
	for level := t.levels - 1; level >= 0; level-- {
		shift := pageBits + level*entryBits
		index := addr >> shift & (1<<entryBits - 1)
		entry, ok := t.physical.Word(table+8*index, 8)
		if !ok || entry&pagePresent == 0 {
			return 0, false
		}
		table = entry & entryAddr &^ t.mask
		if level > 0 && level < 3 && entry&pageLarge != 0 {
			offset := uint64(1)<<shift - 1
			return table&^offset | addr&offset, true
		}
	}
	return table | addr&(1<<pageBits-1), true
}
