package markup

import (
	"fmt"
	"strings"
	"testing"
)

// twoFunctions has symbols for a module with build-id 0abc, in which g is inlined
// into f.
type twoFunctions struct{}

func (twoFunctions) Code(m *Module, addr uint64, inlines bool) ([]Frame, bool) {
	switch {
	case m.Build != "0abc":
		return nil, false
	case addr < 0x1000:
		return nil, true
	case inlines:
		return []Frame{{"g", "/src/a.h", 3, 7}, {"f", "", 0, 0}}, true
	}
	return []Frame{{fmt.Sprintf("f at %x", addr), "/src/a.c", 3, 7}}, true
}

func (twoFunctions) Data(m *Module, addr uint64) (string, bool) {
	return strings.Repeat("v", int(addr&3)), m.Build == "0abc"
}

func (twoFunctions) Name(linkage string) string { return "<" + linkage + ">" }

const modules = "{{{module:0:a.so:elf:aBc}}}\n{{{mmap:0x11000:0x1000:load:0:Rx:0x1000}}}\n"

// TestFilter checks answers. llvm-symbolizer 22 prints the expected outputs, except
// for the names in symbol.
func TestFilter(t *testing.T) {
	const header = "[[[ELF module #0x0 \"a.so\"; BuildID=0abc [0x11000-0x11fff](rx)]]]\n"
	for _, c := range []struct{ name, log, want, problem string }{
		{"text", "a\nb", "a\nb", ""},
		{"symbol", "x {{{symbol:_Z1f}}} y\n", "x <_Z1f> y\n", ""},
		{"pc", modules + "{{{pc:0x11010}}} {{{pc:0x11010:ra}}} {{{pc:0x11010:pc}}}\n",
			header + "f at 1010[/src/a.c:3] f at 100f[/src/a.c:3] f at 1010[/src/a.c:3]\n", ""},
		{"frame", modules + "  {{{bt:1:0x11010}}} z\r\n",
			strings.TrimSuffix(header, "\n") + "\r\n      #1.1  0x000000000001100f g /src/a.h:3:7 (a.so+0x100f)\r\n" + "    #1    0x000000000001100f f <invalid>:0:0 (a.so+0x100f) z\r\n", ""},
		{"numbers", modules + "{{{bt:123456:0x11010:pc}}}\n", header + "#123456.1  0x0000000000011010 g /src/a.h:3:7 (a.so+0x1010)\n#123456    0x0000000000011010 f <invalid>:0:0 (a.so+0x1010)\n", ""},
		{"data", modules + "{{{data:0x11001}}} {{{data:0x11000}}}\n", header + "v <invalid>\n", ""},
		{"no code", "{{{module:0:a:elf:0abc}}}\n{{{mmap:0x1000:0x10:load:0:r:0}}}\n{{{pc:0x1000}}} {{{bt:0:0x1001}}}\n",
			"[[[ELF module #0x0 \"a\"; BuildID=0abc [0x1000-0x100f](r)]]]\n[[[pc:0x1000]]]     #0    0x0000000000001000 (a+0x0)\n", ""},
		{"unknown module", "{{{module:0:a:elf:01}}}\n{{{mmap:0x1000:16:load:0:r:0}}}\n{{{bt:0:0x1001}}}{{{data:0x1000}}}\n",
			"[[[ELF module #0x0 \"a\"; BuildID=01 [0x1000-0x100f](r)]]]\n[[[bt:0:0x1001]]][[[data:0x1000]]]\n", ""},
		{"no mapping", "{{{pc:0x1}}}\n", "[[[pc:0x1]]]\n", "nothing is mapped there"},
		{"joins", modules + "{{{mmap:0x1000:0x1000:load:0:rw:0x3000}}}\nz\n",
			"[[[ELF module #0x0 \"a.so\"; BuildID=0abc [0x1000-0x1fff](rw),[0x11000-0x11fff](rx)]]]\nz\n", ""},
		{"adds", modules + "z\nq {{{mmap:0x1000:0x1000:load:0:rw:0x3000}}} rest\n",
			header + "z\nq [[[ELF module #0x0 \"a.so\"; adds [0x1000-0x1fff](rw)]]]\n", ""},
		{"reset", modules + "x {{{reset}}} y\n{{{pc:0x11010}}}\n{{{reset}}}\n", header + "x [[[reset]]]\n[[[pc:0x11010]]]\n", "nothing is mapped there"},
		{"overlap", modules + "{{{mmap:0x10fff:0x2:load:0:r:0x0}}}\n", header, "it overlaps what is at 0x11000"},
		{"module twice", modules + "{{{module:0:b:elf:01}}}\n", header, "there is a module with this number"},
		{"no module", "{{{mmap:0x1000:0x10:load:3:r:0x0}}}\n", "", "there is no module with its number"},
		{"kind of module", "{{{module:0:b:pe:01}}}\n", "", "its kind of module is unknown"},
		{"kind of mapping", modules + "{{{mmap:0x1000:0x10:page:0:r:0x0}}}\n", header, "its kind of mapping is unknown"},
		{"mode", modules + "{{{mmap:0x1000:0x10:load:0:xr:0x0}}}\n", header, `its mode is "xr", want letters of rwx`},
		{"build-id", "{{{module:0:b:elf:0g}}}\n", "", `its build-id is "0g"`},
		{"number", "{{{module:0b1:b:elf:01}}}\n", "", `its module's number is "0b1"`},
		{"address", "a{{{pc:12}}}b\n", "ab\n", `its address is "12"`},
		{"kind of address", modules + "{{{pc:0x11010:xx}}}\n", header + "\n", `the kind of address is "xx", want ra or pc`},
		{"frame number", "{{{bt:0x1:0x11010}}}\n", "\n", `its frame number is "0x1"`},
		{"fields", "{{{pc}}}{{{symbol}}}\n", "\n", "it has 0 of 1 fields"},
		{"more fields", "{{{symbol:a:b}}}\n", "<a>\n", "it has more than 1 fields"},
		{"tags", "{{{}}} {{{:a}}} {{{other:1}}} {{{Pc:0x1}}}|\n", "{{{}}} {{{:a}}} {{{other:1}}} |\n", "a tag has lower-case letters only"},
		{"open", "{{{symbol:a\nb}}} {{{symbol:c}}\n", "{{{symbol:a\nb}}} {{{symbol:c}}\n", ""},
		{"colors", "\x1b[31mred\x1b[0m \x1b[1mbold\x1b[0m \x1b[4m \x1b\n", "red bold \x1b[4m \x1b\n", ""},
	} {
		got, problems := filtered(&Filter{}, c.log)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if !strings.HasPrefix(problems, c.problem) || problems != "" && c.problem == "" {
			t.Errorf("%s: problems %q, want %q", c.name, problems, c.problem)
		}
	}
}

// TestLogs checks that in logs that contain more than markup, everything unknown stays as
// it is.
func TestLogs(t *testing.T) {
	const log = "\x1b[31mred {{{symbol:a}}} {{{Name}}} {{{pc:zz}}} {{{x:1}}}\n{{{module:0:b:pe:01}}} rest\n"
	const want = "\x1b[31mred <a> {{{Name}}} {{{pc:zz}}} {{{x:1}}}\n{{{module:0:b:pe:01}}} rest\n"
	if got, _ := filtered(&Filter{Logs: true}, log); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for line, want := range map[string]bool{"{{{Name}}}": false, "{{{ {{{pc:1}}}": false, "{{{x}}}{{{bt}}}": true, "{{{reset}}}": true, "{{{pc:1}}": false} {
		if got := In([]byte(line)); got != want {
			t.Errorf("%s: %t", line, got)
		}
	}
}

func TestColors(t *testing.T) {
	got, _ := filtered(&Filter{Color: true}, "\x1b[34m{{{symbol:a}}} \x1b[1m{{{symbol:b}}}\x1b[0m {{{pc:0x1}}}\n\x1b[1m{{{symbol:c}}}\n")
	const want = "\x1b[0;34m\x1b[0;36m<a>\x1b[0;34m \x1b[1m\x1b[0;1;36m<b>\x1b[0;1;34m\x1b[0m " +
		"\x1b[0;34m[[[\x1b[0;32mpc\x1b[0;34m:\x1b[0;32m0x1\x1b[0;34m]]]\x1b[0m\n\x1b[1m\x1b[0;1;34m<c>\x1b[0m\x1b[1m\n\x1b[0m"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// filtered returns a log with its markup replaced, and the problems.
func filtered(f *Filter, log string) (out, problems string) {
	f.Symbols = twoFunctions{}
	f.Problem = func(problem, _ string) { problems += problem + "\n" }
	var dst []byte
	for line := range strings.Lines(log) {
		dst = f.Line(dst, []byte(line))
	}
	return string(f.End(dst)), problems
}

func FuzzFilter(f *testing.F) {
	f.Add(modules + "{{{pc:0x11010}}} {{{bt:1:0x11010:ra}}} {{{data:0x11001}}} {{{symbol:x}}}\n{{{reset}}}\n")
	f.Add("\x1b[1m{{{mmap:0xffffffffffffffff:0xffffffffffffffff:load:0:r:0}}}\n{{{bt:0:0}}}")
	f.Fuzz(func(t *testing.T, log string) {
		for _, filter := range []*Filter{{}, {Logs: true}, {Color: true}} {
			out, _ := filtered(filter, log)
			if filter.Open() {
				t.Error("a line is open at the end")
			}
			if !filter.Color && len(out) > 100*len(log)+100 {
				t.Errorf("%d bytes of %d", len(out), len(log))
			}
			if filter.Logs && !In([]byte(log)) && !strings.Contains(log, "\n") && out != log {
				t.Errorf("%q of %q", out, log)
			}
		}
	})
}
