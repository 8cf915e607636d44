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
		{LLVM, "b", "main", `0 "b" main+0`},
		{LLVM, "b", "main+0x10", `0 "b" main+10`},
		{LLVM, "b", "main+10", `0 "b" main+a`},
		{LLVM, "b", "main + 10", `0 "b" none`},
		{LLVM, "", "BUILDID:aBcd 0x10", `0 "ABCD" 10`},
		{LLVM, "", "BUILDID:zz 0x10", `0 "BUILDID:zz" 10`},
		{Elfutils, "b", "main+1", `0 "b" main+1`},
		{LLVM, "b", "0x1_0", `0 "b" none`},
		{LLVM, "b", "0x10000000000000000", `0 "b" none`},
		{Addr2line, "b", "1139", `0 "b" 1139`},
		{Addr2line, "b", " 0x1139", `0 "b" 1139`},
		{Addr2line, "b", "CODE 1139", `0 "b" c`},
		{Addr2line, "b", "1139g", `0 "b" 1139`},
		{Addr2line, "b", "second", `0 "b" second+0`},
		{Addr2line, "b", "second + 0x10", `0 "b" second+10`},
		{Addr2line, "b", "add+10", `0 "b" add+a`},
		{Addr2line, "b", "add", `0 "b" add`},
		{Addr2line, "b", "0x", `0 "b" none`},
		{Elfutils, "b", "+1139", `0 "b" 1139`},
	} {
		s := &Symbolizer{Options: Options{Style: c.style, Binary: c.binary}}
		r := s.parse(c.line)
		got := fmt.Sprintf("%d %q none", r.kind, r.file)
		if r.symbol != "" {
			got = fmt.Sprintf("%d %q %s+%x", r.kind, r.file, r.symbol, r.offset)
		}
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
		{LLVM, "_ZN1a4b..c1f17h0123456789abcdefE", "a::b..c::f::h0123456789abcdef"},
		{LLVM, "_Z1fI1AIS0_IS0_IiEEEEvv", "void f<A<A<A<int>>>>()"},
		{Elfutils, "_Z1fI1AIS0_IS0_IiEEEEvv", "void f<A<A<A<int> > > >()"},
		{LLVM, "_Z1fIiJEEvv", "void f<int>()"},
		{LLVM, "_ZltIcEbT_S0_", "bool operator<<char>(char, char)"},
		{LLVM, "_ZZZ4mainENKUlvE_clEvENKUliE0_clEi", "main::'lambda'()::operator()() const::'lambda0'(int)::operator()(int) const"},
		{LLVM, "_ZN1AUt1_E", "A::'unnamed1'"},
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

// Lines of source have LLVM's width of numbers.
func TestNumbered(t *testing.T) {
	text := []byte("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk")
	for _, c := range []struct {
		marked, n int
		want      string
	}{
		{1, 1, "1 >: a\n"},
		{3, 2, "2  : b\n3 >: c\n"},
		{9, 3, "8  : h\n9 >: i\n10  : j\n"},
		{11, 3, "10  : j\n11 >: k\n"},
		{12, 1, ""},
	} {
		if got := numbered(text, c.marked, c.n); got != c.want {
			t.Errorf("%d lines around %d: %q, want %q", c.n, c.marked, got, c.want)
		}
	}
}
