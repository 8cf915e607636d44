package elfcore

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// wide adds registers that are wider than a word, or that come with them, to a context.
func wide(c *dump.Context) {
	values := map[int][]byte{}
	set := func(prefix string, n, size int) {
		for i := range n {
			reg, _ := c.Arch.RegIndex(strings.Fields(numbered(prefix, i, i+1))[0])
			values[reg] = bytes.Repeat([]byte{byte(i + 1)}, size)
			copy(values[reg], c.Bytes(reg)) // the part that FXSAVE has
		}
	}
	switch c.Arch {
	case arch.X86:
		set("$xmm", 8, 32)
	case arch.X86_64:
		set("$xmm", 32, 64)
		for i := range 8 {
			c.SetAt(slots(c.Arch, 0, 8, numbered("$k", i, i+1))[0].reg, uint64(i)+0x100)
		}
	case arch.ARM64:
		c.Set("vg", 4)
		set("z", 32, 32)
		set("p", 16, 4)
		set("ffr", 0, 4)
		for i := range 32 {
			v, z := slots(c.Arch, 0, 8, numbered("v", i, i+1))[0].reg, slots(c.Arch, 0, 8, numbered("z", i, i+1))[0].reg
			values[v] = values[z]
		}
		ffr, _ := c.Arch.RegIndex("ffr")
		values[ffr] = []byte{1, 2, 3, 4}
	case arch.RISCV, arch.RISCV64:
		for i, name := range []string{"vstart", "vl", "vtype", "vcsr"} {
			c.Set(name, uint64(i)+1)
		}
		c.Set("vlenb", 16)
		set("v", 32, 16)
	}
	c.SetBytes(values)
}

// A core keeps the registers of each thread in the system's notes, for programs that do not know symtool's.
func TestWriteRegsets(t *testing.T) {
	for _, a := range []*arch.Arch{arch.X86, arch.X86_64, arch.ARM64, arch.RISCV, arch.RISCV64} {
		want := process(a, binary.LittleEndian)
		for i := range want.Threads {
			wide(want.Threads[i].Context)
		}
		var b bytes.Buffer
		if _, err := Write(&b, want); err != nil {
			t.Fatal(err)
		}
		data := bytes.ReplaceAll(b.Bytes(), []byte(dump.RestOwner+"\x00"), []byte("nobody!\x00"))
		got, err := Read(data, "core", Options{})
		if err != nil || len(got.Problems) > 0 {
			t.Fatal(a.Name, err, got.Problems)
		}
		for i := range want.Threads {
			k := slices.IndexFunc(got.Threads, func(th dump.Thread) bool { return th.ID == want.Threads[i].ID })
			x, y := want.Threads[i].Context, got.Threads[k].Context
			for reg := range a.Regs {
				v, ok := x.At(reg)
				w, has := y.At(reg)
				if v != w || ok != has || !bytes.Equal(x.Bytes(reg), y.Bytes(reg)) {
					t.Errorf("%s: %s: %#x, %v, % x, want %#x, %v, % x", a.Name, a.Regs[reg].Name, w, has, y.Bytes(reg), v, ok, x.Bytes(reg))
				}
			}
		}
	}
}

func TestPACMask(t *testing.T) {
	for _, c := range []struct {
		desc    []byte
		want    uint64
		problem string
	}{
		{binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 0x7f<<48), 0x7f<<48), 0x7f << 48, ""},
		{bytes.Repeat([]byte{0xff}, 16), 0xffff_ffff_0000_0000, ""},
		{make([]byte, 9), 0, "NT_ARM_PAC_MASK: 9 bytes, want 16"},
	} {
		d := process(arch.ARM64, binary.LittleEndian)
		var b bytes.Buffer
		if _, err := Write(&b, d); err != nil {
			t.Fatal(err)
		}
		r, err := newReader(b.Bytes(), "core", Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.readNote(note{kind: ntPACMask, owner: ownerLinux, desc: c.desc})
		if problems := r.d.Problems; r.d.Tags != c.want || len(problems) > 0 != (c.problem != "") || len(problems) > 0 && !strings.Contains(problems[0].String(), c.problem) {
			t.Errorf("% x: %#x, %v, want %#x, %q", c.desc, r.d.Tags, problems, c.want, c.problem)
		}
	}
}

// Every vector, mask and predicate register is as gdb shows it, in 8-byte parts from the lowest on.
func TestOracleRegsets(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		core, program string
		names         []string // ours; vectors first, then words
		gdb           func(i int) []string
		least         int // parts that are not 0
	}{
		{"avx.core", "avx", strings.Fields(numbered("$xmm", 0, 32) + numbered("$k", 0, 8) + "$pkru"), func(i int) (list []string) {
			if i >= 32 {
				return []string{[]string{"$k0", "$k1", "$k2", "$k3", "$k4", "$k5", "$k6", "$k7", "$pkru"}[i-32]}
			}
			for k := range 8 {
				list = append(list, fmt.Sprintf("$zmm%d.v8_int64[%d]", i, k))
			}
			return list
		}, 20},
		{"sve2.core", "sve", strings.Fields(numbered("z", 0, 32) + "vg"), func(i int) (list []string) {
			if i >= 32 {
				return []string{"$vg"}
			}
			for k := range 8 {
				list = append(list, fmt.Sprintf("$z%d.d.u[%d]", i, k))
			}
			return list
		}, 1},
	} {
		write := func(name string) string {
			path := filepath.Join(t.TempDir(), name)
			data := testenv.Gunzip(t, testenv.Shared(t, "data", "found3", "walk", name+".gz"))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		core := write(c.core)
		d, err := Read(testenv.ReadFile(t, core), core, Options{})
		if err != nil || len(d.Threads) != 1 {
			t.Fatal(err)
		}
		var ours, theirs []string
		for i, name := range c.names {
			theirs = append(theirs, c.gdb(i)...)
			reg, _ := d.Arch.RegIndex(name)
			b := d.Threads[0].Context.Bytes(reg)
			if b == nil {
				v, _ := d.Threads[0].Context.At(reg)
				b = binary.LittleEndian.AppendUint64(nil, v)
			}
			for ; len(b) > 0; b = b[8:] {
				ours = append(ours, strconv.FormatUint(binary.LittleEndian.Uint64(b), 16))
			}
		}
		command := `printf "registers` + strings.Repeat(" %lx", len(theirs)) + `\n", ` + strings.Join(theirs, ", ")
		_, out, found := strings.Cut(oracle.GDBCore(t, core, write(c.program), command), "registers ")
		out, _, _ = strings.Cut(out, "\n")
		want := strings.Fields(out)
		if !found || len(want) != len(ours) {
			t.Fatalf("%s: %d values, gdb has %d", c.core, len(ours), len(want))
		}
		notZero := 0
		for i := range ours {
			if ours[i] != want[i] {
				t.Errorf("%s: %s is %s, gdb has %s", c.core, theirs[i], ours[i], want[i])
			}
			if want[i] != "0" {
				notZero++
			}
		}
		if notZero < c.least {
			t.Errorf("%s: %d of %d values are not 0", c.core, notZero, len(ours))
		}
	}
}
