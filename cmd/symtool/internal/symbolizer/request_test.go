package symbolizer

import (
	"fmt"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		style              Style
		binary, line, want string
	}{
		{LLVM, "", "CODE /a/b.so 0x10", `0 "/a/b.so" 10`},
		{LLVM, "", `DATA "a b" 16`, `1 "a b" 10`},
		{LLVM, "", `FRAME 'a b' 0x10`, `2 "a b" 10`},
		{LLVM, "", "FILE:a 010", `0 "a" 8`},
		{LLVM, "", "a  0x10 rest", `0 "a" 10`},
		{LLVM, "", "a", `0 "a" none`},
		{LLVM, "", "", `0 "" none`},
		{LLVM, "", `"a 0x10`, `0 "a 0x10" none`},
		{LLVM, "b", "0x1139", `0 "b" 1139`},
		{LLVM, "b", "DATA 0x1139", `1 "b" 1139`},
		{LLVM, "b", "main", `0 "b" none`},
		{LLVM, "b", "0x1_0", `0 "b" none`},
		{LLVM, "b", "0x10000000000000000", `0 "b" none`},
		{Addr2line, "b", "1139", `0 "b" 1139`},
		{Addr2line, "b", " 0x1139", `0 "b" 1139`},
		{Addr2line, "b", "CODE 1139", `0 "b" none`},
	} {
		s := &Symbolizer{Options: Options{Style: c.style, Binary: c.binary}}
		r := s.parse(c.line)
		got := fmt.Sprintf("%d %q none", r.kind, r.file)
		if r.ok {
			got = fmt.Sprintf("%d %q %x", r.kind, r.file, r.addr)
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.line, got, c.want)
		}
	}
}

func TestDemangle(t *testing.T) {
	for _, c := range []struct {
		style      Style
		name, want string
	}{
		{LLVM, "_Z1fi", "f(int)"},
		{LLVM, "_Z1fi.cold.1", "f(int) (.cold.1)"},
		{Addr2line, "_Z1fi.cold", "f(int) [clone .cold]"},
		{LLVM, "main", "main"},
		{LLVM, "_Zx", "_Zx"},
		{LLVM, "_RNvC1a1f", "a::f"},
	} {
		s := &Symbolizer{Options: Options{Style: c.style}}
		if got := s.demangle(c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A symbol ends by its size; one without goes on to the next.
func TestSymbolAt(t *testing.T) {
	m := &module{table: []symbol{{name: "a", addr: 0x10, size: 4}, {name: "d", addr: 0x20, size: 8, data: true}, {name: "z", addr: 0x40}}}
	for addr, want := range map[uint64]string{0xf: "", 0x10: "a", 0x13: "a", 0x14: "", 0x27: "d", 0x28: "", 0x40: "z", 0x4000: "z"} {
		got := ""
		if s := m.symbolAt(addr); s != nil {
			got = s.name
		}
		if got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}
