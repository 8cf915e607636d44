package dump

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func module(name string, addr, size uint64) Module {
	return Module{Range: Range{addr, size}, Path: name}
}

func TestSetModules(t *testing.T) {
	for _, c := range []struct {
		name     string
		list     []Module
		main     int
		want     string // name addr+size, * for the main one
		overlaps int
	}{
		{"none", nil, -1, "", 0},
		{"sorted", []Module{module("b", 20, 5), module("a", 10, 10)}, 0, "a 10+10 *b 20+5", 0},
		{"one bad size", []Module{module("a", 10, 1<<40), module("b", 20, 5), module("c", 30, 5)}, 0, "*a 10+10 b 20+5 c 30+5", 1},
		{"in a row", []Module{module("a", 10, 15), module("b", 20, 15), module("c", 30, 5)}, 1, "a 10+10 *b 20+10 c 30+5", 2},
		{"same place", []Module{module("a", 10, 5), module("b", 10, 50), module("c", 30, 5)}, 1, "a 10+5 c 30+5", 1},
		{"no size", []Module{module("a", 10, 5), module("b", 10, 0), module("c", 12, 0)}, 0, "b 10+0 *a 10+5", 1},
		{"no size, outside", []Module{module("a", 10, 5), module("b", 15, 0), module("c", 16, 5)}, 0, "*a 10+5 b 15+0 c 16+5", 0},
		{"to the end", []Module{module("a", math.MaxUint64-3, 100)}, 0, fmt.Sprintf("*a %d+4", uint64(math.MaxUint64-3)), 0},
	} {
		var d Dump
		overlaps := d.SetModules(c.list, c.main)
		var got []string
		for i, m := range d.Modules {
			text := fmt.Sprintf("%s %d+%d", m.Path, m.Addr, m.Size)
			if i == d.Main {
				text = "*" + text
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != c.want || len(overlaps) != c.overlaps {
			t.Errorf("%s: %s, %v; want %s and %d overlaps", c.name, got, overlaps, c.want, c.overlaps)
		}
		for _, m := range d.Modules {
			if i := d.ModuleAt(m.Addr); m.Size > 0 && (i < 0 || d.Modules[i].Path != m.Path) {
				t.Errorf("%s: ModuleAt(%#x) is %d", c.name, m.Addr, i)
			}
		}
	}
	var d Dump
	// A module without a size does not hide another.
	d.SetModules([]Module{module("a", 10, 5), module("b", 12, 0)}, 0)
	if d.ModuleAt(13) != 0 {
		t.Error("a module without a size hides another")
	}
	d.SetModules([]Module{module("a", 10, 5)}, 0)
	if d.ModuleAt(9) != -1 || d.ModuleAt(15) != -1 || d.ModuleAt(14) != 0 {
		t.Error("ModuleAt beside a module")
	}
}

func TestOverlapText(t *testing.T) {
	var d Dump
	text := fmt.Sprint(d.SetModules([]Module{module("a\x1b", 0x10, 0x100), module("b", 0x20, 5), module("c", 0x20, 5)}, -1))
	const want = `[module "a\x1b" at 0x10 has a size of 0x100, which reaches into "b" module "c" at 0x20 is where "b" is]`
	if text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestContext(t *testing.T) {
	c := NewContext(arch.X86_64)
	c.Set("$rip", 0x1234)
	c.Set("$rsp", 0)
	c.Set("$nothing", 1)
	if v, ok := c.Get("$rsp"); v != 0 || !ok || c.PC() != 0x1234 {
		t.Errorf("rsp %#x %v, pc %#x", v, ok, c.PC())
	}
	copied := c.Clone()
	copied.Set("$rax", 7)
	copied.Set("$rip", 8)
	if _, ok := c.Get("$rax"); ok || c.PC() != 0x1234 || copied.PC() != 8 {
		t.Error("a clone shares memory with the original")
	}
	known := 0
	for i := range c.Arch.Regs {
		if _, ok := c.At(i); ok {
			known++
		}
	}
	if known != 2 {
		t.Errorf("%d registers are known, want 2", known)
	}
}

func TestBase(t *testing.T) {
	for _, c := range []struct {
		os         OS
		path, want string
	}{
		{Windows, `C:\a\b.dll`, "b.dll"}, {Windows, "c:/a/b.dll", "b.dll"}, {Linux, `/a/b\c`, `b\c`}, {Linux, "x", "x"}, {Linux, "a/", ""}, {UnknownOS, `a\b`, "b"},
	} {
		if got := c.os.Base(c.path); got != c.want {
			t.Errorf("%v: Base(%q) = %q, want %q", c.os, c.path, got, c.want)
		}
	}
	for os := UnknownOS; os <= FreeBSD; os++ {
		if os.String() == "" {
			t.Errorf("system %d has no name", os)
		}
	}
}
