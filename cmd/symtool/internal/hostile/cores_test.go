package hostile

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// hostileCoreCommands read m.core.
var hostileCoreCommands = []string{
	"walk m.core",
	"walk --format json --registers m.core",
	"walk --format html m.core",
	"walk --summary m.core",
	"inspect --registers --memory --streams m.core",
	"inspect --format json m.core",
	"convert --to minidump -o m.dmp m.core",
	"walk m.dmp",
	"doctor m.core",
}

// coreOf returns a core for amd64 with notes, and with segments over one piece of memory.
func coreOf(notes []byte, segments []elfSegment, memory []byte) []byte {
	le := binary.LittleEndian
	phnum := len(segments) + 1
	phoff := 64
	var section []byte // with the number of segments, if that has more than 16 bits
	if phnum >= 0xffff {
		phoff += 64
		section = make([]byte, 64)
		le.PutUint32(section[44:], uint32(phnum))
	}
	notesAt := uint64(phoff + 56*phnum)
	memoryAt := notesAt + uint64(len(notes))
	file := append(make([]byte, 64), section...)
	header := func(s elfSegment) {
		file = le.AppendUint32(le.AppendUint32(file, s.typ), s.flags)
		for _, v := range []uint64{s.off, s.addr, s.addr, s.size, s.memory, 1} {
			file = le.AppendUint64(file, v)
		}
	}
	header(elfSegment{typ: 4, off: notesAt, size: uint64(len(notes))})
	for _, s := range segments {
		s.off += memoryAt
		header(s)
	}
	copy(file, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]int{16: 4, 18: 62, 52: 64, 54: 56, 56: min(phnum, 0xffff), 58: 64} {
		le.PutUint16(file[at:], uint16(v))
	}
	le.PutUint32(file[20:], 1)
	le.PutUint64(file[32:], uint64(phoff))
	if section != nil {
		le.PutUint64(file[40:], 64)
		le.PutUint16(file[60:], 1)
	}
	return append(append(file, notes...), memory...)
}

// coreNote returns one of the kernel's notes.
func coreNote(kind uint32, data []byte) []byte {
	b := append(pack(uint32(5), uint32(len(data)), kind), "CORE\x00\x00\x00\x00"...)
	b = append(b, data...)
	return append(b, make([]byte, -len(b)&3)...)
}

// coreThread returns the NT_PRSTATUS note of a thread.
func coreThread(i int) []byte { return coreThreadAt(i, mdStack) }

// coreThreadAt returns the NT_PRSTATUS note of a thread with the given stack pointer.
func coreThreadAt(i int, sp uint64) []byte {
	status := make([]byte, 336)
	binary.LittleEndian.PutUint32(status[32:], uint32(i+1))
	binary.LittleEndian.PutUint64(status[112+4*8:], mdStack)        // rbp
	binary.LittleEndian.PutUint64(status[112+16*8:], mdCode+0x1000) // rip
	binary.LittleEndian.PutUint64(status[112+19*8:], sp)            // rsp
	return coreNote(1, status)
}

// coreFiles returns an NT_FILE note with n mappings.
func coreFiles(n int, place func(i int) (from, to uint64), names []byte) []byte {
	return coreNote(0x46494c45, append(append(pack(uint64(n), uint64(4096)), repeat(n, func(i int) []byte {
		from, to := place(i)
		return pack(from, to, uint64(0))
	})...), names...))
}

// hostileCores returns ELF cores.
func hostileCores() (kinds []hostileKind) {
	add := func(name string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.core": data}, commands: hostileCoreCommands})
	}
	stack := func(memory []byte) []elfSegment {
		return []elfSegment{{1, 6, 0, mdStack, uint64(len(memory)), uint64(len(memory))}}
	}
	add("segments", 30000, func(n int) []byte {
		segments := make([]elfSegment, n)
		for i := range segments {
			segments[i] = elfSegment{1, 6, 0, mdStack + 4096*uint64(i), 4096, 4096}
		}
		return coreOf(coreThread(0), segments, framePointers(4096))
	})
	add("segments-over-each-other", 30000, func(n int) []byte {
		segments := make([]elfSegment, n)
		for i := range segments {
			segments[i] = elfSegment{1, 6, 0, mdStack + uint64(i), uint64(16*n - 2*i), uint64(16*n - 2*i)}
		}
		return coreOf(coreThread(0), segments, framePointers(n))
	})
	memory := framePointers(1 << 12)
	add("files", 25000, func(n int) []byte {
		names := repeat(n, func(i int) []byte { return fmt.Appendf(nil, "/lib%d.so\x00", i) })
		place := func(i int) (uint64, uint64) { return uint64(mdCode + 0x1000*i), uint64(mdCode + 0x1000*i + 0x1000) }
		return coreOf(append(coreThread(0), coreFiles(n, place, names)...), stack(memory), memory)
	})
	add("files-over-each-other", 25000, func(n int) []byte {
		place := func(i int) (uint64, uint64) { return uint64(mdCode + i), uint64(mdCode + 4*n - 2*i) }
		return coreOf(append(coreThread(0), coreFiles(n, place, []byte(strings.Repeat("/lib.so\x00", n)))...), stack(memory), memory)
	})
	add("threads", 2000, func(n int) []byte {
		return coreOf(repeat(n, coreThread), stack(memory), memory)
	})
	add("notes", 50000, func(n int) []byte {
		return coreOf(append(coreThread(0), repeat(n, func(i int) []byte { return coreNote(uint32(i), nil) })...), stack(memory), memory)
	})
	add("auxv", 50000, func(n int) []byte {
		auxv := coreNote(6, repeat(n, func(i int) []byte { return pack(uint64(i%50+1), uint64(mdStack)) }))
		return coreOf(append(coreThread(0), auxv...), stack(memory), memory)
	})
	for _, k := range []struct {
		name string
		n    int
		data func(n int) []byte
	}{
		{"kernel-info", 20000, func(n int) []byte {
			return kernelCore(repeat(n, func(i int) []byte { return fmt.Appendf(nil, "SYMBOL(s%d)=%x\n", i, i) }), coreThread(0), memory)
		}},
		{"kernel-log", 50000, func(n int) []byte { // records before 5.10: a pointer to the first, three numbers, and 16 bytes each
			info := fmt.Sprintf("SYMBOL(log_buf)=%x\nSYMBOL(log_buf_len)=%x\nSYMBOL(log_first_idx)=%x\nSYMBOL(log_next_idx)=%x\nSIZE(printk_log)=16\n"+
				"OFFSET(printk_log.ts_nsec)=0\nOFFSET(printk_log.len)=8\nOFFSET(printk_log.text_len)=10\n", mdStack, mdStack+8, mdStack+12, mdStack+16)
			log := pack(uint64(mdStack+24), uint32(16*n), uint32(0), uint32(1), uint32(0))
			return kernelCore([]byte(info), coreThread(0), append(log, repeat(n, func(int) []byte { return pack(uint64(1), uint16(16), uint16(0xffff), uint32(0)) })...))
		}},
		{"kernel-stacks", 1000, func(n int) []byte { // each CPU's stack is at another address of one page, which is its own page table
			info := fmt.Sprintf("SYMBOL(swapper_pg_dir)=ffffffff80000000\nNUMBER(phys_base)=%d\n", mdStack)
			page := repeat(512, func(int) []byte { return pack(uint64(mdStack | 3)) })
			return kernelCore([]byte(info), repeat(n, func(i int) []byte { return coreThreadAt(i, 0xffffc90000000000+uint64(i)<<16) }), page)
		}},
	} {
		add(k.name, k.n, k.data)
	}
	return kinds
}

// kernelCore returns a core of a kernel with the lines of its VMCOREINFO, the notes of its CPUs, and memory
// at mdStack.
func kernelCore(info, cpus, memory []byte) []byte {
	info = append(fmt.Appendf(nil, "OSRELEASE=6.1.0\nSYMBOL(_stext)=%x\n", mdStack), info...)
	note := append(pack(uint32(11), uint32(len(info)), uint32(0)), "VMCOREINFO\x00\x00"...)
	note = append(append(note, info...), make([]byte, -len(info)&3)...)
	return coreOf(append(note, cpus...), []elfSegment{{1, 7, 0, mdStack, uint64(len(memory)), uint64(len(memory))}}, memory)
}
