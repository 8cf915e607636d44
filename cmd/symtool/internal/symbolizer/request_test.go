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
		{LLVM, "_ZTW1x", "thread-local wrapper routine for x"},
		{LLVM, "__ZTH1x", "thread-local initialization routine for x"},
		{Addr2line, "_ZTW1x", "TLS wrapper function for x"},
		{LLVM, "____Z1fv_block_invoke", "invocation function for block in f()"},
		{LLVM, "__ZN", "__ZN"},
		{LLVM, "_GLOBAL__I_a", "_GLOBAL__I_a"},
		{LLVM, "_Dmain", "D main"},
		{LLVM, "_D8demangle4test12__ModuleInfoZ", "ModuleInfo for demangle.test"},
		{LLVM, "_D8demangle4testi", "demangle.test"},
		{LLVM, "_D8demangle4testFZv", "_D8demangle4testFZv"},
		{LLVM, "_D99x6__initZ", "_D99x6__initZ"},
		{LLVM, "?f@S@@QEAAXXZ", "S::f(void)"},
		{LLVM, "?x@ns@@3HA", "int ns::x"},
		{LLVM, "??_7S@@6B@", "const S::`vftable'"},
		{Addr2line, "?f@S@@QEAAXXZ", "S::f()"},
	} {
		s := &Symbolizer{Options: Options{Style: c.style}}
		if got := s.demangle(c.name); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestNumbered checks that line numbers beside source lines have the same width as
// LLVM's.
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
