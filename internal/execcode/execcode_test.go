package execcode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/testenv"
)

func open(t *testing.T, name string) *object.File {
	t.Helper()
	f, err := elfobj.Open(filepath.Join(testenv.Root(t), "golden", "input", name), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Object()
}

func TestParts(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"uncovered.elf", ".init 570-587 2; .plt 590-5a0 1; .plt.got 5a0-5a8 1; .text 5c0-d84 0; .fini d84-d8d 2"},
		{"pair.debug", ""},
		{"object-arm64.elf", ".text 10000-10180 0"},
		{"sframe-text-segment.elf", "the executable segment 401000-401080 0 segment"},
	} {
		var list []string
		parts := Parts(open(t, c.name))
		for i := range parts {
			p := &parts[i]
			text := fmt.Sprintf("%s %x-%x %d", p.Name, p.Start, p.End, p.Kind)
			if p.Segment {
				text += " segment"
			}
			list = append(list, text)
			if b, err := p.Bytes(); err != nil || uint64(len(b)) != p.End-p.Start {
				t.Errorf("%s: %s: %d bytes, %v", c.name, p.Name, len(b), err)
			}
		}
		if got := strings.Join(list, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Overlapping sections are counted once.
func TestPartsOverlap(t *testing.T) {
	f := open(t, "uncovered.elf")
	text := f.Section(".text")
	f.Section(".fini").Addr = text.Addr + 0x10
	f.Section(".plt").Addr = text.Addr
	last := uint64(0)
	for _, p := range Parts(f) {
		if p.Start < last || p.End <= p.Start {
			t.Errorf("%s: %x to %x behind %x", p.Name, p.Start, p.End, last)
		}
		last = p.End
		if b, err := p.Bytes(); err != nil || uint64(len(b)) != p.End-p.Start {
			t.Errorf("%s: %d bytes, %v", p.Name, len(b), err)
		}
	}
}

func TestAnchors(t *testing.T) {
	for _, c := range []struct {
		name string
		want []uint64
	}{
		{"uncovered.elf", []uint64{0x5e0, 0x6c0, 0x680}}, // _start, frame_dummy, __do_global_dtors_aux
		{"uncovered-stripped.elf", []uint64{0x5e0, 0x6c0, 0x680}},
		{"object-arm64.elf", nil},
	} {
		var got []uint64
		for _, a := range Anchors(open(t, c.name)) {
			got = append(got, a.Addr)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %x, want %x", c.name, got, c.want)
		}
	}
}

func TestStartupName(t *testing.T) {
	for name, want := range map[string]bool{
		"_start": true, "_dl_relocate_static_pie": true, "__x86.get_pc_thunk.bx": true, "hlt": true,
		"": false, "start": false, "main": false, "_init_more": false, "_dl_relocate_static_pies": false, "__x86.get_pc_thunk": false,
	} {
		if StartupName([]byte(name)) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// Data in code are objects, and bytes after $d.
func TestData(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"uncovered.elf", "[]"},
		{"cpu-arm.elf", "[{2d0 2d4} {30c 314} {330 338} {454 45c} {498 4a0} {4bc 4c4} {4f8 500} {5a4 5ac} {604 60c}]"}, // where objdump shows .word
		{"cpu-arm64.elf", "[]"},
	} {
		got, err := Data(open(t, c.name))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if text := fmt.Sprintf("%x", got); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
	if !isMark([]byte("$d")) || !isMark([]byte("$d.12")) || !isMark([]byte("$xrv64i2p1")) || isMark([]byte("$data")) || isMark([]byte("$")) || isMark([]byte("d")) {
		t.Error("names of mapping symbols")
	}
}
