package elfcore

import (
	"encoding/binary"
	"testing"

	"github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// If a CPU's registers do not include the thread pointer, it is in a separate note. Notes of other CPUs, and
// truncated ones, are only listed.
func TestThreadPointerNotes(t *testing.T) {
	little := binary.LittleEndian
	words := func(values ...uint32) (b []byte) {
		for _, v := range values {
			b = little.AppendUint32(b, v)
		}
		return b
	}
	descriptors := words(6, 0xf7c01540, 0xfffff, 0x51, 7, 0, 0, 0x28, 8, 0, 0, 0x28)
	for _, c := range []struct {
		name string
		arch *arch.Arch
		word int
		kind uint32
		desc []byte
		want uint64
	}{
		{"arm64", arch.ARM64, 8, ntARMTLS, words(0xb7ff1000, 0xffff), 0xffffb7ff1000},
		{"arm64 with tpidr2", arch.ARM64, 8, ntARMTLS, words(0xb7ff1000, 0xffff, 1, 2), 0xffffb7ff1000},
		{"arm", arch.ARM, 4, ntARMTLS, words(0xb6ff1000), 0xb6ff1000},
		{"arm64, cut off", arch.ARM64, 8, ntARMTLS, words(0xb7ff1000), 0},
		{"x86", arch.X86, 4, nt386TLS, descriptors, 0xf7c01540},
		{"x86, cut off", arch.X86, 4, nt386TLS, descriptors[:15], 0},
		{"x86, another segment", arch.X86, 4, nt386TLS, descriptors[16:], 0},
		{"x86_64", arch.X86_64, 8, nt386TLS, descriptors, 0},
		{"riscv64", arch.RISCV64, 8, ntARMTLS, words(1, 2), 0},
	} {
		context := dump.NewContext(c.arch)
		context.Set("$gs", 0x33)
		r := &reader{word: c.word, f: &elfobj.File{Order: little},
			d: &dump.Dump{Arch: c.arch, Threads: []dump.Thread{{TEB: 0}, {Context: context}}}}
		r.readNote(note{kind: c.kind, owner: ownerLinux, desc: c.desc})
		if got := r.d.Threads[1].TEB; got != c.want || r.d.Threads[0].TEB != 0 {
			t.Errorf("%s: %#x, %#x, want 0, %#x", c.name, r.d.Threads[0].TEB, got, c.want)
		}
	}
}
