package jitdump

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// file is a file that is being made.
type file struct {
	order binary.AppendByteOrder
	data  []byte
}

func newFile(order binary.AppendByteOrder, reserved uint32, flags uint64) *file {
	f := &file{order: order}
	for _, v := range []uint32{magic, 1, headerSize, 62, reserved, 7} {
		f.data = order.AppendUint32(f.data, v)
	}
	f.data = order.AppendUint64(order.AppendUint64(f.data, 1), flags)
	return f
}

// add adds a record, whose parts are uint32, uint64 or string.
func (f *file) add(kind uint32, when uint64, parts ...any) *file {
	var body []byte
	for _, p := range parts {
		switch p := p.(type) {
		case uint32:
			body = f.order.AppendUint32(body, p)
		case uint64:
			body = f.order.AppendUint64(body, p)
		case string:
			body = append(body, p...)
		}
	}
	f.data = f.order.AppendUint32(f.data, kind)
	f.data = f.order.AppendUint32(f.data, uint32(prefixSize+len(body)))
	f.data = append(f.order.AppendUint64(f.data, when), body...)
	return f
}

func (f *file) load(when, addr, size, index uint64, name string) *file {
	return f.add(codeLoad, when, uint32(7), uint32(7), addr, addr, size, index, name+"\x00"+strings.Repeat("\xcc", int(size)))
}

func (f *file) move(when, from, to, size, index uint64) *file {
	return f.add(codeMove, when, uint32(7), uint32(7), to, from, to, size, index)
}

// functions returns the functions of a module as text.
func functions(m *symfmt.Module) string {
	var all []string
	for i := range m.Funcs {
		fn := &m.Funcs[i]
		text := fmt.Sprintf("%x+%x %s", fn.RVA, fn.Size, fn.Name)
		for l := range fn.Lines() {
			text += fmt.Sprintf(" %x+%x:%s:%d", l.RVA, l.Size, m.Files[l.File].Name, l.Num)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

func read(t *testing.T, data []byte, o Options) *symfmt.Result {
	t.Helper()
	r, err := Read(t.Context(), bytes.NewReader(data), int64(len(data)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The last load at an address is in force, and code that moved is where it moved to, with its lines.
func TestRead(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	lines := func(f *file) *file {
		return f.add(codeDebug, 1, uint64(0x1000), uint64(3), uint64(0x1008), uint32(2), uint32(0), "a\x00", uint64(0x1000), uint32(1), uint32(0), "b\x00", uint64(0x1010), uint32(9), uint32(0), "a\x00")
	}
	for _, c := range []struct {
		name string
		f    *file
		want string
	}{
		{"order", newFile(le, 0, 0).load(1, 0x2000, 16, 1, "b").load(1, 0x1000, 16, 2, "a"), "1000+10 a\n2000+10 b"},
		{"big endian", newFile(be, 0, 0).load(1, 0x2000, 16, 1, "b"), "2000+10 b"},
		{"replaced", newFile(le, 0, 0).load(1, 0x1000, 16, 1, "old").load(2, 0x1000, 16, 2, "new"), "1000+10 new"},
		{"freed by code that is gone, too", newFile(le, 0, 0).load(1, 0x1000, 16, 1, "old").load(2, 0x100f, 16, 2, "mid").load(3, 0x101e, 16, 3, "new"), "101e+10 new"},
		{"neighbours", newFile(le, 0, 0).load(1, 0x1000, 16, 1, "a").load(2, 0x1010, 16, 2, "b"), "1000+10 a\n1010+10 b"},
		{"moved", newFile(le, 0, 0).load(1, 0x1000, 16, 1, "a").move(2, 0x1000, 0x3000, 16, 1), "3000+10 a"},
		{"moved to and fro", newFile(le, 0, 0).load(1, 0x1000, 16, 1, "a").move(2, 0x1000, 0x3000, 16, 1).move(3, 0x3000, 0x1000, 16, 1), "1000+10 a"},
		{"lines", lines(newFile(le, 0, 0)).load(1, 0x1000, 16, 1, "a"), "1000+10 a 1000+8:b:1 1008+8:a:2"},
		{"lines that moved", lines(newFile(le, 0, 0)).load(1, 0x1000, 16, 1, "a").move(1, 0x1000, 0x5000, 16, 1), "5000+10 a 5000+8:b:1 5008+8:a:2"},
		{"lines of other code", lines(newFile(le, 0, 0)).load(1, 0x1001, 16, 1, "a").load(1, 0x2000, 16, 2, "b"), "1001+10 a\n2000+10 b"},
		{"lines by V8", lines(newFile(le, v8Reserved, 0)).load(1, 0x1000, 16, 1, "a"), "1000+10 a"},
		{"the same file", newFile(le, 0, 0).add(codeDebug, 1, uint64(0x1000), uint64(2), uint64(0x1000), uint32(1), uint32(0), "a\x00", uint64(0x1004), uint32(2), uint32(0), "\xff\x00").load(1, 0x1000, 16, 1, "a"),
			"1000+10 a 1000+4:a:1 1004+c:a:2"},
		{"unknown type", newFile(le, 0, 0).add(77, 1, "text").load(1, 0x1000, 16, 1, "a").add(codeClose, 1), "1000+10 a"},
		{"no code", newFile(le, 0, 0).load(1, 0x1000, 0, 1, "a"), ""},
	} {
		r := read(t, c.f.data, Options{})
		if got := functions(r.Module); got != c.want || len(r.Problems) > 0 || r.Module.Arch != "x86_64" {
			t.Errorf("%s:\n%s\nwant\n%s, %s, problems %v", c.name, got, c.want, r.Module.Arch, r.Problems)
		}
	}
}

// What was written after the process was seen does not count, unless the time of the file is that of a copy.
func TestReadAt(t *testing.T) {
	at := time.Unix(1000, 0)
	const second = 1_000_000_000
	make := func(flags uint64) []byte {
		return newFile(binary.LittleEndian, 0, flags).load(5*second, 0x1000, 16, 1, "old").load(9*second, 0x1000, 16, 2, "new").data
	}
	for _, c := range []struct {
		name     string
		data     []byte
		modified time.Time
		want     string
	}{
		{"written before", make(0), at.Add(-time.Second), "1000+10 new"},
		{"went on", make(0), at.Add(time.Second), "1000+10 old"},
		{"went on for longer", make(0), at.Add(3 * time.Second), "1000+10 old"},
		{"copied", make(0), at.Add(time.Hour), "1000+10 new"},
		{"another clock", make(archTimestamp), at.Add(time.Second), "1000+10 new"},
	} {
		if got := functions(read(t, c.data, Options{At: at, Modified: c.modified}).Module); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Damage costs a record, or the rest of the file if the size of a record is damaged.
func TestReadDamage(t *testing.T) {
	le := binary.LittleEndian
	whole := func() *file { return newFile(le, 0, 0).load(1, 0x1000, 16, 1, "a") }
	good := whole().data
	for _, c := range []struct {
		name, want string
		data       []byte
		functions  int
	}{
		{"ends in a prefix", "the file ends inside a record of at least 16 bytes", append(whole().data, 1, 2), 1},
		{"ends in a record", "the file ends inside a record of at least 74 bytes", good[:len(good)-1], 0},
		{"size", "record of 3 bytes, want at least 16", le.AppendUint64(le.AppendUint32(le.AppendUint32(whole().data, 0), 3), 0), 1},
		{"small load", "record of 20 bytes, want at least 56", whole().add(codeLoad, 1, uint32(1)).data, 1},
		{"large code", "code of 1048576 bytes in a record of 56", whole().add(codeLoad, 1, uint32(1), uint32(1), uint64(1), uint64(1), uint64(1<<20), uint64(2)).data, 1},
		{"huge code", "code of 18446744073709551615 bytes in a record of 56", whole().add(codeLoad, 1, uint32(1), uint32(1), uint64(1), uint64(1), ^uint64(0), uint64(2)).data, 1},
		{"beyond 64 bits", "code at 0xfffffffffffffff8 of 0x10 bytes ends beyond 64 bits", whole().load(1, 0xfffffffffffffff8, 16, 2, "b").data, 1},
		{"endless name", "the name of the code at 0x3000 does not end", whole().add(codeLoad, 1, uint32(1), uint32(1), uint64(0x3000), uint64(0x3000), uint64(1), uint64(2), "abc").data, 1},
		{"unknown move", "code 5 moves from 0x1000, where it is not", whole().move(1, 0x1000, 0x2000, 16, 5).data, 1},
		{"other move", "code 1 moves from 0x1001, where it is not", whole().move(1, 0x1001, 0x2000, 16, 1).data, 1},
		{"far move", "code at 0xffffffffffffffff of 0x10 bytes ends beyond 64 bits", whole().move(1, 0x1000, ^uint64(0), 16, 1).data, 1},
		{"many lines", "9223372036854775807 entries in a record of 49 bytes", whole().add(codeDebug, 1, uint64(0x1000), uint64(1<<63-1), strings.Repeat("x", 17)).data, 1},
		{"rules", "99 bytes of call frame information, 0 of them a header, in a record of 40", whole().add(codeUnwinding, 1, uint64(99), uint64(0), uint64(0)).data, 1},
	} {
		r := read(t, c.data, Options{File: "jit-1.dump"})
		if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].String(), c.want) || len(r.Module.Funcs) != c.functions {
			t.Errorf("%s: %d functions, %v, want %q", c.name, len(r.Module.Funcs), r.Problems, c.want)
		}
	}
	for name, data := range map[string][]byte{"empty": nil, "header": good[:39], "magic": append([]byte("x"), good...), "version": slices.Concat(good[:4], []byte{2}, good[5:])} {
		if r, err := Read(t.Context(), bytes.NewReader(data), int64(len(data)), Options{}); err == nil {
			t.Errorf("%s: %v", name, r)
		}
	}
	many := whole()
	for range maxProblems + 5 {
		many.add(codeLoad, 1)
	}
	if p := read(t, many.data, Options{}).Problems; len(p) != maxProblems+1 || p[maxProblems].Lost != "5 more records" {
		t.Errorf("%d problems, the last %v", len(p), p[len(p)-1])
	}
}

// The file of a program that writes code has its functions, lines and rules.
func TestReadFixture(t *testing.T) {
	r := read(t, testenv.ReadInput(t, "crashes", "jitcode.jitdump"), Options{})
	const want = `7ffff7fbe000+17 outer 7ffff7fbe000+f:prog.lang:10 7ffff7fbe00f+8:prog.lang:12
7ffff7fbe080+17 middle 7ffff7fbe080+f:prog.lang:20 7ffff7fbe08f+8:prog.lang:22
7ffff7fbe0c0+17 inner 7ffff7fbe0c0+f:prog.lang:30 7ffff7fbe0cf+8:prog.lang:33`
	if got := functions(r.Module); got != want || len(r.Problems) > 0 {
		t.Errorf("%s\n%v", got, r.Problems)
	}
	var blocks []string
	for _, b := range r.Module.CFI.Blocks {
		blocks = append(blocks, fmt.Sprintf("%x+%x %s", b.RVA, b.Size, r.Module.CFI.Rules.Text(b.Init)))
	}
	const init = "+17 .cfa: $rsp 8 + .ra: .cfa -8 + ^"
	if want := []string{"7ffff7fbe000" + init, "7ffff7fbe080" + init, "7ffff7fbe0c0" + init}; !slices.Equal(blocks, want) || len(r.Module.CFI.Rows) != 12 {
		t.Errorf("%q, %d rows", blocks, len(r.Module.CFI.Rows))
	}
}

// Functions of a perf map that later ones overlap are not in force.
func TestInForce(t *testing.T) {
	all := []symfmt.Func{{RVA: 0x10, Size: 8, Name: "old"}, {RVA: 0x20, Size: 8, Name: "b"}, {RVA: 0x14, Size: 8, Name: "new"}, {RVA: 0x30, Name: "empty"}}
	var names []string
	for _, f := range InForce(all) {
		names = append(names, f.Name)
	}
	if want := []string{"b", "new"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(testenv.ReadInput(f, "crashes", "jitcode.jitdump"))
	f.Add(newFile(binary.BigEndian, v8Reserved, 1).load(1, 0x1000, 16, 1, "a").move(2, 0x1000, 0x3000, 16, 1).data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Read(t.Context(), bytes.NewReader(data), int64(len(data)), Options{})
		if err != nil {
			return
		}
		for i := range r.Module.Funcs {
			if fn := &r.Module.Funcs[i]; fn.Size == 0 || uint64(fn.RVA)+fn.Size-1 < uint64(fn.RVA) || i > 0 && fn.RVA < r.Module.Funcs[i-1].RVA+symfmt.RVA(r.Module.Funcs[i-1].Size) {
				t.Fatalf("function %d: %#x+%#x", i, fn.RVA, fn.Size)
			}
		}
	})
}
