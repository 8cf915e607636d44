package elfcore

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/walk/dump"
)

// The end of the kernel's log is read from printk's ring buffer, whose structures VMCOREINFO describes (Linux,
// Documentation/admin-guide/kdump/vmcoreinfo.rst; how they are used: scripts/gdb/linux/dmesg.py). Kernels before 5.10
// have records one after another instead.
const (
	maxLogRecords = 64   // number of records that are read, the last ones: a panic with its registers and stack has about 50
	maxLogText    = 4096 // bytes of a record; printk has lines of up to 1024
	maxLogLines   = 128
)

// The states of a record's descriptor that has text, in the two highest bits of its state variable.
const (
	logCommitted = 1
	logFinalized = 2
)

// kernelLog reads the log from the kernel's memory. It records the first thing that is missing.
type kernelLog struct {
	r       *reader
	memory  dump.Memory
	tables  *pageTables
	size    uint64 // size of the memory in the core
	missing string
}

func (l *kernelLog) lacks(format string, args ...any) {
	if l.missing == "" {
		l.missing = fmt.Sprintf(format, args...)
	}
}

// described returns a value that VMCOREINFO has in decimal: the offset of a member, or a size.
func (l *kernelLog) described(key string) uint64 {
	v, err := strconv.ParseUint(l.r.kernel[key], 10, 32)
	if err != nil {
		l.lacks("VMCOREINFO has no %s", key)
	}
	return v
}

func (l *kernelLog) offset(member string) uint64 { return l.described("OFFSET(" + member + ")") }

// bytes returns n bytes of the kernel's memory: from a segment, or through the page tables.
func (l *kernelLog) bytes(addr uint64, n int) []byte {
	if b := l.memory.Bytes(addr, n); len(b) == n {
		return b
	}
	var out []byte
	for at := addr; len(out) < n; {
		part := min(n-len(out), pageSize-int(at%pageSize))
		phys, ok := uint64(0), false
		if l.tables.root != 0 {
			phys, ok = l.tables.translate(at)
		}
		b := l.tables.physical.Bytes(phys, part)
		if !ok || len(b) < part {
			l.lacks("the core does not have the memory at %#x", at)
			return make([]byte, n)
		}
		out, at = append(out, b...), at+uint64(part)
	}
	return out
}

// number returns the number of size bytes at an address.
func (l *kernelLog) number(addr uint64, size int) uint64 {
	b := l.bytes(addr, size)
	order := l.r.d.Order
	switch size {
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

func (l *kernelLog) word(addr uint64) uint64 { return l.number(addr, l.r.word) }

// readKernel reads what the kernel's memory contains about its panic.
func (r *reader) readKernel(memory []dump.Region) {
	l := &kernelLog{r: r, memory: dump.NewMemory(r.order(), memory), tables: r.pageTables(memory)}
	for _, m := range memory {
		l.size += uint64(len(m.Data))
	}
	k := &dump.Kernel{PanicCPU: -1}
	if prb, ok := r.kernel.hex("SYMBOL(prb)"); ok {
		k.Log = l.ring(l.word(prb))
	} else if buf, ok := r.kernel.hex("SYMBOL(log_buf)"); ok {
		k.Log = l.records(l.word(buf))
	} else {
		l.lacks("VMCOREINFO has neither SYMBOL(prb) nor SYMBOL(log_buf)")
	}
	k.LogMissing, l.missing = l.missing, ""
	k.PanicCPU = l.panicCPU(k.Log)
	k.CPUMissing, l.missing = l.missing, ""
	if k.PanicCPU >= 0 {
		r.d.Requester, r.d.HasRequester = uint32(k.PanicCPU), true
	}
	r.d.Kernel, r.log = k, l
}

// ring returns the last lines in the ring buffer at an address.
func (l *kernelLog) ring(at uint64) (lines []string) {
	descs := at + l.offset("printk_ringbuffer.desc_ring")
	texts := at + l.offset("printk_ringbuffer.text_data_ring")
	countBits := l.number(descs+l.offset("prb_desc_ring.count_bits"), 4)
	sizeBits := l.number(texts+l.offset("prb_data_ring.size_bits"), 4)
	desc, info := l.word(descs+l.offset("prb_desc_ring.descs")), l.word(descs+l.offset("prb_desc_ring.infos"))
	text := l.word(texts + l.offset("prb_data_ring.data"))
	counter := l.offset("atomic_long_t.counter")
	head := l.word(descs + l.offset("prb_desc_ring.head_id") + counter)
	tail := l.word(descs + l.offset("prb_desc_ring.tail_id") + counter)
	descSize, infoSize := l.described("SIZE(prb_desc)"), l.described("SIZE(printk_info)")
	state, block := l.offset("prb_desc.state_var")+counter, l.offset("prb_desc.text_blk_lpos")
	begin, next := block+l.offset("prb_data_blk_lpos.begin"), block+l.offset("prb_data_blk_lpos.next")
	stamp, length := l.offset("printk_info.ts_nsec"), l.offset("printk_info.text_len")
	if countBits > 30 || sizeBits > 40 {
		l.lacks("printk's ring buffer at %#x has 2^%d records and 2^%d bytes", at, countBits, sizeBits)
	}
	if l.missing != "" {
		return nil
	}
	flags := uint(8*l.r.word - 2)
	mask := uint64(1)<<flags - 1
	count := min((head-tail)&mask+1, maxLogRecords, 1<<countBits)
	for i := range count {
		index := (head - (count - 1 - i)) & mask & (1<<countBits - 1)
		d := desc + index*descSize
		if s := l.word(d+state) >> flags & 3; s != logCommitted && s != logFinalized {
			continue
		}
		from, to := l.word(d+begin), l.word(d+next)
		if from&1 != 0 {
			continue // a record without text
		}
		from, to = from&(1<<sizeBits-1), to&(1<<sizeBits-1)
		if from > to {
			from = 0 // the text is at the start of the buffer
		}
		from += uint64(l.r.word) // the id of the descriptor
		n := l.number(info+index*infoSize+length, 2)
		if from >= to {
			continue
		}
		lines = append(lines, l.line(l.number(info+index*infoSize+stamp, 8), text+from, min(n, to-from))...)
	}
	return lastLines(lines)
}

// records returns the last lines of the log of a kernel before 5.10. Records begin with their length; a length of 0
// means that the next record is at the start of the buffer.
func (l *kernelLog) records(at uint64) (lines []string) {
	symbol := func(name string) uint64 {
		addr, ok := l.r.kernel.hex("SYMBOL(" + name + ")")
		if !ok {
			l.lacks("VMCOREINFO has no SYMBOL(%s)", name)
			return 0
		}
		return l.number(addr, 4)
	}
	size, first, last := symbol("log_buf_len"), symbol("log_first_idx"), symbol("log_next_idx")
	stamp, length, textLen := l.offset("printk_log.ts_nsec"), l.offset("printk_log.len"), l.offset("printk_log.text_len")
	head := l.described("SIZE(printk_log)")
	if size > l.size {
		l.lacks("the log has %d bytes, more than the memory in the core", size)
	}
	var places []uint64 // of the last records
	for i, wrapped := first, false; i != last && i < size && l.missing == ""; {
		n := l.number(at+i+length, 2)
		if n < head || head == 0 {
			if n != 0 || wrapped {
				l.lacks("the record of %d bytes at %#x is none of printk's", n, at+i)
			}
			i, wrapped = 0, true
			continue
		}
		if places = append(places, i); len(places) > maxLogRecords {
			places = places[1:]
		}
		i += n
	}
	for _, i := range places {
		n := l.number(at+i+textLen, 2)
		lines = append(lines, l.line(l.number(at+i+stamp, 8), at+i+head, n)...)
	}
	return lastLines(lines)
}

// line returns the lines of a record as dmesg prints them.
func (l *kernelLog) line(ns, addr, n uint64) (lines []string) {
	text := bytes.TrimRight(l.bytes(addr, int(min(n, maxLogText))), "\n\x00")
	for s := range strings.SplitSeq(string(text), "\n") {
		lines = append(lines, fmt.Sprintf("[%5d.%06d] %s", ns/1e9, ns%1e9/1000, s))
	}
	return lines
}

func lastLines(lines []string) []string { return lines[max(0, len(lines)-maxLogLines):] }

// panicsOn matches the line about the running task that the kernel prints after the message of a panic or an oops
// (dump_stack_print_info in lib/dump_stack.c).
var panicsOn = regexp.MustCompile(`\] CPU: ([0-9]{1,5}) (?:UID: [0-9]+ )?PID: `)

// panicVariables are the kernel's variables that hold the CPU that panicked, or -1 before a panic. The crash utility
// reads the same variables.
var panicVariables = []string{"crashing_cpu", "panic_cpu"}

// cpuAt returns the CPU in a variable, or -1.
func (l *kernelLog) cpuAt(addr uint64) int {
	before := l.missing
	if cpu := int64(int32(l.number(addr, 4))); l.missing == before && cpu >= 0 && cpu < int64(len(l.r.d.Threads)) {
		return int(cpu)
	}
	return -1
}

// panicIn finds the CPU that panicked by means of the kernel's binary, which has the addresses of variables.
func (r *reader) panicIn(f *elfobj.File, m *dump.Module) {
	k := r.d.Kernel
	if k == nil || k.PanicCPU >= 0 || r.log == nil {
		return
	}
	_ = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if k.PanicCPU < 0 && slices.Contains(panicVariables, string(s.Name)) {
			k.PanicCPU = r.log.cpuAt(r.addr(s.Addr + m.Bias))
		}
	})
	if k.PanicCPU >= 0 {
		k.CPUMissing = ""
		r.d.Requester, r.d.HasRequester = uint32(k.PanicCPU), true
	}
}

// panicCPU returns the CPU that panicked: by a variable, if VMCOREINFO says where it is, or else by the log. It returns
// -1 if it is not known.
func (l *kernelLog) panicCPU(log []string) int {
	for _, name := range panicVariables {
		if at, ok := l.r.kernel.hex("SYMBOL(" + name + ")"); ok {
			if cpu := l.cpuAt(at); cpu >= 0 {
				return cpu
			}
		}
	}
	found := -1
	for _, line := range log {
		if m := panicsOn.FindStringSubmatch(line); m != nil {
			if cpu, err := strconv.Atoi(m[1]); err == nil && cpu < len(l.r.d.Threads) {
				found = cpu
			}
		}
	}
	if found >= 0 {
		l.missing = ""
	} else {
		l.lacks("VMCOREINFO has neither SYMBOL(crashing_cpu) nor SYMBOL(panic_cpu), and the log names none")
	}
	return found
}
