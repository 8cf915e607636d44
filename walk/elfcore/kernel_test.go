package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Addresses of the test's kernel: its code, page tables, and a stack that only the page tables map.
const (
	testText   = 0xffffffff91000000
	testStack  = 0xffffc90000100000
	textPhys   = 0x1000000
	tablesPhys = 0x2000000
	stackPhys  = 0x3000000
)

// vmcore is a core of a kernel on two CPUs, the second of which is idle. info is added to its VMCOREINFO.
func vmcore(info string) []byte {
	order := binary.LittleEndian
	status := func(pid uint32, pc, sp uint64) []byte {
		d := make([]byte, 336)
		order.PutUint32(d[32:], pid)
		order.PutUint64(d[112+16*8:], pc)
		order.PutUint64(d[112+19*8:], sp)
		return d
	}
	info = "OSRELEASE=6.1.0-test\nBUILD-ID=0123456789abcdef0123456789abcdef01234567\nSYMBOL(_stext)=ffffffff91000000\n" + info
	notes := slices.Concat(
		note4("CORE", ntPRStatus, status(77, testText+0x34, testText+0x800)), note4("CORE", ntPRStatus, status(0, testText+0x44, testStack+0x1f00)),
		note4(ownerVMCoreInfo, 0, []byte(info)))
	table := func(index int, entry uint64) []byte {
		b := make([]byte, 4096)
		order.PutUint64(b[8*index:], entry|3)
		return b
	}
	index := func(level int) int { return int(uint64(testStack) >> (12 + 9*level) & 511) }
	last := table(index(0), stackPhys+0x1000|1<<63)
	order.PutUint64(last[8*(index(0)+1):], stackPhys|1<<63|3)
	loads := []struct {
		addr, phys uint64
		data       []byte
	}{
		{testText, textPhys, slices.Concat(make([]byte, 4096), table(index(3), tablesPhys))},
		{0, tablesPhys, slices.Concat(table(index(2), tablesPhys+0x1000), table(index(1), tablesPhys+0x2000), last)},
		{0, stackPhys, []byte(strings.Repeat("2", 4096) + strings.Repeat("1", 4096))},
	}
	head := make([]byte, 64+56*(1+len(loads)))
	copy(head, "\x7fELF\x02\x01\x01")
	order.PutUint16(head[16:], uint16(elf.ET_CORE))
	order.PutUint16(head[18:], uint16(arch.X86_64.Machine))
	order.PutUint32(head[20:], 1)
	order.PutUint64(head[32:], 64)
	for i, v := range []uint16{64, 56, uint16(1 + len(loads)), 64} {
		order.PutUint16(head[52+2*i:], v)
	}
	out := append(slices.Clone(head), notes...)
	segment := func(i int, kind elf.ProgType, off int, addr, phys, size uint64) {
		p := out[64+56*i:]
		order.PutUint32(p, uint32(kind))
		order.PutUint32(p[4:], uint32(elf.PF_R|elf.PF_W|elf.PF_X))
		for k, v := range []uint64{uint64(off), addr, phys, size, size} {
			order.PutUint64(p[8+8*k:], v)
		}
	}
	segment(0, elf.PT_NOTE, len(head), 0, 0, uint64(len(notes)))
	for i, l := range loads {
		off := len(out)
		out = append(out, l.data...)
		addr := l.addr
		if addr == 0 { // in the direct map, as kdump has it
			addr = 0xffff888000000000 + l.phys
		}
		segment(i+1, elf.PT_LOAD, off, addr, l.phys, uint64(len(l.data)))
	}
	return out
}

func note4(owner string, kind uint32, desc []byte) []byte {
	var b []byte
	for _, v := range []int{len(owner) + 1, len(desc), int(kind)} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	pad := func(b []byte) []byte { return append(b, make([]byte, -len(b)&3)...) }
	b = pad(append(append(b, owner...), 0))
	return pad(append(b, desc...))
}

// A kernel's core from a pipe is read as a whole, because its memory is in no order.
func TestKernelStream(t *testing.T) {
	_, err := ReadStream(bytes.NewReader(vmcore(paging)), "vmcore", StreamOptions{})
	var seek *SeekError
	if !errors.As(err, &seek) {
		t.Fatal(err)
	}
	data, err := io.ReadAll(seek.Rest)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(data, "vmcore", Options{})
	if err != nil || len(d.Problems) > 0 || len(d.Memory.Bytes(testStack+0x1000, 1)) == 0 {
		t.Errorf("%v, %v: the stack is missing", err, d.Problems)
	}
}

// paging is what a kernel says about its page tables and the offset at which it was loaded.
const paging = "SYMBOL(swapper_pg_dir)=ffffffff91001000\nNUMBER(phys_base)=-268435456\nKERNELOFFSET=10000000\nCRASHTIME=1700000000\n"

// A kernel's core has a thread for each CPU, the kernel as its module, and the stacks to which page tables lead.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		info    string
		paged   bool // the second CPU's stack is there
		problem string
	}{
		{paging, true, ""},
		{"", false, "VMCOREINFO does not say where the page tables are"},
		{"SYMBOL(swapper_pg_dir)=ffffffff91000000\n", false, "their pages are not in the core"},
	} {
		d, err := Read(vmcore(c.info), "vmcore", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Threads) != 2 || d.Threads[0].Name != "CPU 0, task 77" || d.Threads[1].Name != "CPU 1" || d.Threads[1].ID != 1 || d.Crash != nil {
			t.Errorf("%q: threads %+v, crash %v", c.info, d.Threads, d.Crash)
		}
		if d.System.Version != "6.1.0-test" || len(d.Modules) != 1 || d.Modules[0].Path != "vmlinux" || d.Modules[0].Addr != testText ||
			d.Modules[0].Size != 0x2000 || d.Modules[0].CodeID != "0123456789abcdef0123456789abcdef01234567" {
			t.Errorf("%q: %q, modules %+v", c.info, d.System.Version, d.Modules)
		}
		if c.paged && (d.Modules[0].Bias != 0x10000000 || d.Time.Unix() != 1700000000) {
			t.Errorf("bias %#x, time %v", d.Modules[0].Bias, d.Time)
		}
		if got := string(d.Memory.Bytes(testStack+0x1000, 1)); got != map[bool]string{true: "2"}[c.paged] {
			t.Errorf("%q: the page of the stack has %q", c.info, got)
		}
		if got := fmt.Sprint(d.Problems); c.problem == "" && len(d.Problems) > 0 || !strings.Contains(got, c.problem) {
			t.Errorf("%q: problems %s, want %q", c.info, got, c.problem)
		}
	}
}

// A page that page tables give to two stacks belongs to the first: otherwise a core of a few pages would have stacks
// without end.
func TestKernelStacksShared(t *testing.T) {
	core := vmcore(paging)
	order := binary.LittleEndian
	// The second page of the stack is the same as the first, and so is the third.
	tables := bytes.Index(core, order.AppendUint64(nil, (stackPhys+0x1000)|1<<63|3))
	for i := range 3 {
		order.PutUint64(core[tables+8*i:], (stackPhys+0x1000)|1<<63|3)
	}
	d, err := Read(core, "vmcore", Options{})
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	if got := len(d.Memory.Bytes(testStack+0x1000, 0x1000)); got != 0x1000 {
		t.Errorf("the page of the stack pointer has %#x bytes", got)
	}
	if b := d.Memory.Bytes(testStack+0x2000, 1); len(b) > 0 {
		t.Errorf("the page after it is there again: %q", b)
	}
}
