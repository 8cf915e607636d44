package dump

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// two returns a dump with a thread, another one that crashed, and memory.
func two() *Dump {
	d := &Dump{Arch: arch.X86_64, Order: binary.LittleEndian, Main: -1}
	for id := uint32(1); id < 3; id++ {
		c := NewContext(d.Arch)
		c.Set("$rip", uint64(id))
		c.Set("$fs.base", math.MaxUint64)
		d.Threads = append(d.Threads, Thread{ID: id, Context: c, Stack: Range{0x1000, 16}})
	}
	d.Memory = NewMemory(d.Order, []Region{{0x1000, make([]byte, 16)}, {0x2000, make([]byte, 16)}})
	d.Crash = &Crash{Thread: 2, Context: d.Threads[1].Context}
	return d
}

// What a format can represent is read from it; the rest comes from the note.
func TestRest(t *testing.T) {
	rip, _ := arch.X86_64.RegIndex("$rip")
	rax, _ := arch.X86_64.RegIndex("$rax")
	holds := func(reg int) bool { return reg == rip || reg == rax }
	for name, change := range map[string]func(*Dump){
		"as it is":             func(*Dump) {},
		"no crash":             func(d *Dump) { d.Crash = nil },
		"a crash without regs": func(d *Dump) { d.Crash.Context = nil },
		"other regs":           func(d *Dump) { d.Crash.Context = NewContext(d.Arch); d.Crash.Context.Set("$rip", 9) },
		"of another thread":    func(d *Dump) { d.Crash.Thread = 5 },
	} {
		d := two()
		change(d)
		data, err := d.Rest(Holding{Register: holds, OneContext: true})
		if err != nil {
			t.Fatal(err)
		}
		read := &Dump{Arch: d.Arch, Order: d.Order, Main: -1} // in the form of a format
		for i := len(d.Threads) - 1; i >= 0; i-- {
			th := Thread{ID: d.Threads[i].ID, Context: NewContext(d.Arch)}
			from := d.Threads[i].Context
			if d.Crash != nil && d.CrashedThread() == i && d.Crash.Context != nil {
				from = d.Crash.Context
			}
			th.Context.Set("$rip", from.PC())
			th.Context.Set("$rax", 0)
			read.Threads = append(read.Threads, th)
		}
		read.Crash = &Crash{Thread: 2, Context: read.Threads[0].Context}
		if d.Crash != nil && d.CrashedThread() < 0 {
			read.Crash = &Crash{Context: d.Crash.Context}
		}
		read.Memory = NewMemory(d.Order, []Region{{0x0ff0, make([]byte, 0x1100)}})
		if err := read.ApplyRest(data); err != nil {
			t.Fatal(err)
		}
		for i := range d.Threads {
			if g, w := read.Threads[i], d.Threads[i]; g.ID != w.ID || !Same(g.Context, w.Context) || g.Stack != w.Stack {
				t.Errorf("%s: thread %+v, want %+v", name, g, w)
			}
		}
		if (read.Crash == nil) != (d.Crash == nil) || d.Crash != nil && !Same(read.Crash.Context, d.Crash.Context) {
			t.Errorf("%s: crash %+v, want %+v", name, read.Crash, d.Crash)
		}
		if r := read.Memory.Regions; len(r) != 2 || r[0].Addr != 0x1000 || len(r[0].Data) != 16 || r[1].Addr != 0x2000 || len(r[1].Data) != 16 {
			t.Errorf("%s: memory %+v", name, r)
		}
	}
}

// Whatever the note contains, the dump is valid.
func TestHostileRest(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"Version":2}`, `{"Version":1}`, `{"Version":1,"System":{"OS":255}}`,
		`{"Version":1,"Main":-9,"Modules":[{"Addr":1,"Size":18446744073709551615},{"Addr":1,"Size":5}]}`,
		`{"Version":1,"Main":99,"Threads":[{"ID":1},{"ID":1},{"ID":77,"Stack":{"Addr":5,"Size":5}}]}`,
		`{"Version":1,"Threads":[{"ID":1,"Stack":{"Addr":5,"Size":5},"Registers":{"Set":{"nothing":5,"$rip":3},"Unknown":["x","$rip"]}}]}`,
		`{"Version":1,"Memory":[{"Addr":18446744073709551615,"Size":18446744073709551615},{"Addr":0,"Size":18446744073709551615}]}`,
		`{"Version":1,"Crash":{"Thread":5,"Own":true,"Registers":{"All":true}},"Maps":[{"Addr":9},{"Addr":1}]}`,
	} {
		d := two()
		err := d.ApplyRest([]byte(text))
		if valid := json.Valid([]byte(text)) && text != "[]" && text != `{"Version":2}`; valid != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
		_ = d.System.OS.String()
		if d.Main >= len(d.Modules) || len(d.Threads) != 2 || d.CrashedThread() >= 2 {
			t.Errorf("%s: %+v", text, d)
		}
		for i := range d.Threads {
			if s := d.Threads[i].Stack; s.Size > 0 && d.Memory.Find(s.Addr) == nil {
				t.Errorf("%s: stack %+v", text, s)
			}
		}
	}
}
