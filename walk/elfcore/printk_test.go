package elfcore

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// printkInfo describes structures that differ from any kernel's, so that the reader can only use the note.
const printkInfo = "SYMBOL(prb)=ffffffff91000100\n" +
	"OFFSET(printk_ringbuffer.desc_ring)=8\nOFFSET(printk_ringbuffer.text_data_ring)=64\n" +
	"OFFSET(prb_desc_ring.count_bits)=4\nOFFSET(prb_desc_ring.descs)=8\nOFFSET(prb_desc_ring.infos)=16\n" +
	"OFFSET(prb_desc_ring.head_id)=24\nOFFSET(prb_desc_ring.tail_id)=40\nOFFSET(atomic_long_t.counter)=0\n" +
	"OFFSET(prb_data_ring.size_bits)=4\nOFFSET(prb_data_ring.data)=8\n" +
	"SIZE(prb_desc)=32\nOFFSET(prb_desc.state_var)=8\nOFFSET(prb_desc.text_blk_lpos)=16\n" +
	"OFFSET(prb_data_blk_lpos.begin)=0\nOFFSET(prb_data_blk_lpos.next)=8\n" +
	"SIZE(printk_info)=40\nOFFSET(printk_info.ts_nsec)=8\nOFFSET(printk_info.text_len)=20\n"

// oldLogInfo describes the log of a kernel before 5.10.
const oldLogInfo = "SYMBOL(log_buf)=ffffffff91000100\nSYMBOL(log_buf_len)=ffffffff91000110\n" +
	"SYMBOL(log_first_idx)=ffffffff91000114\nSYMBOL(log_next_idx)=ffffffff91000118\n" +
	"SIZE(printk_log)=16\nOFFSET(printk_log.ts_nsec)=0\nOFFSET(printk_log.len)=8\nOFFSET(printk_log.text_len)=10\n"

// loggingKernel is a core of a kernel whose memory has the structures of printkInfo and of oldLogInfo.
func loggingKernel(info string, edit func(page []byte)) []byte {
	data := vmcore(info)
	le := binary.LittleEndian
	page := data[le.Uint64(data[64+56+8:]):][:4096]
	words := func(at int, values ...uint64) {
		for i, v := range values {
			le.PutUint64(page[at+8*i:], v)
		}
	}
	if strings.Contains(info, "prb") {
		words(0x100, testText+0x200)
		le.PutUint32(page[0x200+8+4:], 2) // 4 records
		words(0x200+8+8, testText+0x300, testText+0x400, 8, 0, 5)
		le.PutUint32(page[0x200+64+4:], 7) // 128 bytes
		words(0x200+64+8, testText+0x500)
		record := func(id, state, begin, next, ns uint64, at int, text string) {
			words(0x300+32*int(id%4)+8, state<<62|id, begin, next)
			words(0x400+40*int(id%4)+8, ns)
			le.PutUint16(page[0x400+40*int(id%4)+20:], uint16(len(text)))
			copy(page[0x500+at+8:], text)
		}
		record(5, 3, 40, 64, 1, 40, "may be used again")
		record(6, 1, 128+64, 128+80, 1500000000, 64, "old")
		record(7, 2, 128+80, 128+120, 2000001000, 80, "Kernel panic - not syncing: test")
		record(8, 2, 128+120, 256+40, 2000002999, 0, "CPU: 1 PID: 0 Comm: swapper/1") // from the start of the buffer
	} else {
		words(0x100, testText+0x500)
		for i, v := range []uint32{0x80, 0x40, 0x30} {
			le.PutUint32(page[0x110+4*i:], v)
		}
		record := func(at int, ns uint64, length int, text string) {
			words(0x500+at, ns)
			le.PutUint16(page[0x500+at+8:], uint16(length))
			le.PutUint16(page[0x500+at+10:], uint16(len(text)))
			copy(page[0x500+at+16:], text)
		}
		record(0x40, 1500000000, 0x18, "old")
		record(0x58, 0, 0, "") // the next is at the start
		record(0, 2000001000, 0x30, "CPU: 1 PID: 0 Comm: swapper/1")
	}
	if edit != nil {
		edit(page)
	}
	return data
}

// A kernel's core contains the end of its log, and the CPU that panicked; what cannot be known is reported.
func TestKernelLog(t *testing.T) {
	all := []string{"[    1.500000] old", "[    2.000001] Kernel panic - not syncing: test", "[    2.000002] CPU: 1 PID: 0 Comm: swapper/1"}
	without := func(line string) string { return strings.Replace(printkInfo, line+"\n", "", 1) }
	le := binary.LittleEndian
	for _, c := range []struct {
		name, info  string
		edit        func(page []byte)
		log         []string
		cpu         int
		lacks, lost string // of the CPU and of the log
	}{
		{"a ring buffer", printkInfo, nil, all, 1, "", ""},
		{"a variable", printkInfo + "SYMBOL(crashing_cpu)=ffffffff91000800\n", nil, all, 0, "", ""},
		{"a variable that is not set", printkInfo + "SYMBOL(panic_cpu)=ffffffff91000800\n", func(page []byte) { le.PutUint32(page[0x800:], 0xffffffff) }, all, 1, "", ""},
		{"a variable elsewhere", printkInfo + "SYMBOL(panic_cpu)=10\n", nil, all, 1, "", ""},
		{"a CPU that the core does not have", printkInfo, func(page []byte) { page[0x500+8+5] = '7' }, append(slices.Clone(all[:2]), "[    2.000002] CPU: 7 PID: 0 Comm: swapper/1"), -1,
			"VMCOREINFO has neither SYMBOL(crashing_cpu) nor SYMBOL(panic_cpu), and the log names none", ""},
		{"an old kernel", oldLogInfo, nil, []string{all[0], strings.Replace(all[2], "2.000002", "2.000001", 1)}, 1, "", ""},
		{"an old kernel whose records go round", oldLogInfo, func(page []byte) { le.PutUint16(page[0x508:], 0) }, []string{all[0]}, -1,
			"VMCOREINFO has neither SYMBOL(crashing_cpu) nor SYMBOL(panic_cpu), and the log names none", "the record of 0 bytes at 0xffffffff91000500 is none of printk's"},
		{"an old kernel whose log is longer than the core", oldLogInfo, func(page []byte) { le.PutUint32(page[0x110:], 0xffffffff) }, nil, -1,
			"VMCOREINFO has neither SYMBOL(crashing_cpu) nor SYMBOL(panic_cpu), and the log names none", "the log has 4294967295 bytes, more than the memory in the core"},
		{"no log", "", nil, nil, -1, "VMCOREINFO has neither SYMBOL(crashing_cpu) nor SYMBOL(panic_cpu), and the log names none",
			"VMCOREINFO has neither SYMBOL(prb) nor SYMBOL(log_buf)"},
		{"no member", without("OFFSET(prb_desc_ring.infos)=16"), nil, nil, -1, "VMCOREINFO has neither", "VMCOREINFO has no OFFSET(prb_desc_ring.infos)"},
		{"no memory", printkInfo, func(page []byte) { le.PutUint64(page[0x100:], 0x10) }, nil, -1, "VMCOREINFO has neither", "the core does not have the memory at 0x1c"},
		{"too many records", printkInfo, func(page []byte) { page[0x20c] = 31 }, nil, -1, "VMCOREINFO has neither",
			"printk's ring buffer at 0xffffffff91000200 has 2^31 records and 2^7 bytes"},
	} {
		d, err := Read(loggingKernel(paging+c.info, c.edit), "vmcore", Options{})
		if err != nil || d.Kernel == nil {
			t.Fatalf("%s: %v %v", c.name, err, d)
		}
		k := d.Kernel
		if !slices.Equal(k.Log, c.log) || k.LogMissing != c.lost {
			t.Errorf("%s: log %q, missing %q, want %q, %q", c.name, k.Log, k.LogMissing, c.log, c.lost)
		}
		if k.PanicCPU != c.cpu || !strings.HasPrefix(k.CPUMissing, c.lacks) || (k.CPUMissing == "") != (c.lacks == "") {
			t.Errorf("%s: CPU %d, missing %q, want %d, %q", c.name, k.PanicCPU, k.CPUMissing, c.cpu, c.lacks)
		}
		if want := fmt.Sprint(c.cpu, c.cpu >= 0); fmt.Sprint(d.RequestingThread(), d.HasRequester) != want {
			t.Errorf("%s: thread %d panicked, want %s", c.name, d.RequestingThread(), want)
		}
	}
}

// testKernelBias is the distance by which the kernel of paging was moved when it was loaded.
const testKernelBias = 0x10000000

// kernelBinary is the binary of the kernel in vmcore: its build-id, and one variable at an address as it was linked.
func kernelBinary(name string, addr uint64) []byte {
	const phdrs, shdrs = 2, 5
	id, _ := hex.DecodeString("0123456789abcdef0123456789abcdef01234567")
	note := note4("GNU", 3, id)
	names := "\x00" + name + "\x00.symtab\x00.strtab\x00.note\x00.text\x00"
	at := func(s string) uint32 { return uint32(strings.Index(names, s+"\x00")) }
	noteAt := uint64(64 + 56*phdrs)
	symsAt := noteAt + uint64(len(note))
	namesAt := symsAt + 2*24
	sectionsAt := namesAt + uint64(len(names))
	var out bytes.Buffer
	put := func(v any) { _ = binary.Write(&out, binary.LittleEndian, v) }
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_EXEC), Machine: uint16(arch.X86_64.Machine), Version: 1, Phoff: 64, Shoff: sectionsAt,
		Ehsize: 64, Phentsize: 56, Phnum: phdrs, Shentsize: 64, Shnum: shdrs, Shstrndx: 3,
	})
	const linked = testText - testKernelBias
	put(elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 7, Vaddr: linked, Paddr: textPhys, Filesz: 64, Memsz: 0x2000, Align: 4096})
	put(elf.Prog64{Type: uint32(elf.PT_NOTE), Off: noteAt, Vaddr: linked, Filesz: uint64(len(note)), Memsz: uint64(len(note)), Align: 4})
	out.Write(note)
	put(elf.Sym64{})
	put(elf.Sym64{Name: at(name), Info: byte(elf.STB_GLOBAL)<<4 | byte(elf.STT_OBJECT), Shndx: 4, Value: addr, Size: 4})
	out.WriteString(names)
	put(elf.Section64{})
	put(elf.Section64{Name: at(".note"), Type: uint32(elf.SHT_NOTE), Off: noteAt, Addr: linked, Size: uint64(len(note)), Addralign: 4})
	put(elf.Section64{Name: at(".symtab"), Type: uint32(elf.SHT_SYMTAB), Off: symsAt, Size: 48, Link: 3, Info: 1, Entsize: 24})
	put(elf.Section64{Name: at(".strtab"), Type: uint32(elf.SHT_STRTAB), Off: namesAt, Size: uint64(len(names))})
	put(elf.Section64{Name: at(".text"), Type: uint32(elf.SHT_PROGBITS), Flags: 6, Addr: linked, Size: 0x2000})
	return out.Bytes()
}

// The CPU that panicked is in a variable of the kernel, whose address is in the kernel's binary if VMCOREINFO does not
// have it. KASLR has moved it.
func TestKernelPanicVariable(t *testing.T) {
	const linked = testText - testKernelBias
	silent := strings.Replace(printkInfo, "SYMBOL(prb)", "SYMBOL(none)", 1) // so that the log does not say
	for _, c := range []struct {
		name  string
		info  string
		addr  uint64
		value uint32
		cpu   int
	}{
		{"panic_cpu", silent, linked + 0x800, 1, 1},
		{"crashing_cpu", silent, linked + 0x800, 0, 0},
		{"panic_cpu", silent, linked + 0x800, 0xffffffff, -1}, // PANIC_CPU_INVALID
		{"panic_cpu", silent, linked + 0x800, 2, -1},          // there are two CPUs
		{"panic_cpu", silent, linked + 0x800000, 1, -1},       // the core does not have it
		{"panic_cpus", silent, linked + 0x800, 1, -1},
		{"panic_cpu", printkInfo, linked + 0x800, 0, 1}, // the log names CPU 1
	} {
		core := loggingKernel(paging+c.info, func(page []byte) { binary.LittleEndian.PutUint32(page[0x800:], c.value) })
		binary := filepath.Join(t.TempDir(), "vmlinux")
		if err := os.WriteFile(binary, kernelBinary(c.name, c.addr), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := Read(core, "vmcore", Options{Binaries: []string{binary}})
		if err != nil || d.Kernel == nil || len(d.Problems) > 0 {
			t.Fatal(err, d.Problems)
		}
		if k := d.Kernel; k.PanicCPU != c.cpu || (k.CPUMissing == "") != (c.cpu >= 0) || d.HasRequester != (c.cpu >= 0) {
			t.Errorf("%s at %#x, %d: CPU %d, missing %q, %v", c.name, c.addr, int32(c.value), k.PanicCPU, k.CPUMissing, d.Problems)
		}
	}
}
