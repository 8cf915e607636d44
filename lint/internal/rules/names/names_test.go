package names

import (
	"strings"
	"testing"
)

func TestSchemes(t *testing.T) {
	for want, names := range map[scheme][]string{
		itanium: {"_Z1fv", "_ZN3foo3barEv", "__ZN3foo3barEv", "_ZNK3foo3barEv", "_ZNSt6vectorIiE4sizeEv", "_ZL3foov", "_ZZ4mainE1x", "_ZZN1a1bEvE1c",
			"_ZTV3Foo", "_ZTI3Foo", "_ZTSN1a1bE", "_ZThn16_N1a1bEv", "_ZGVZ4mainE1x", "_ZSt4move", "_ZNSaIcE", "_ZN12_GLOBAL__N_11fEv", "_ZplRK1aS1_",
			"_ZN1aE [clone .cold]", "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "_ZNO1a1bEv", "_ZdlPv", "_ZdaPvm", "_Znwm", "_ZNKSsixEm",
			"_ZSa1x", "_ZTv0_n24_N1aD1Ev", "_ZGTtNSt11logic_errorC1EPKc", "_ZaaRK1aS1_", "_ZNS1_3fooE", "_ZZL1fvE1x", "_ZTC1a"},
		rustV0: {"_RNvC6_123foo3bar", "_RNvNtCs1234_7mycrate3foo3bar", "_RNCNvC4test4mains_0", "_RINvNtC3std3mem8align_ofjE", "_RNvMs_C4testNtB4_3Foo3bar",
			"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "_RNvYNtC4test1aNtB2_1b1c", "_RNvXs2_C4test", "_RC4main"},
		microsoft: {"?foo@@YAXXZ", "??0Foo@@QEAA@XZ", "??_7Foo@@6B@", "?x@ns@@3HA"},
		swift:     {"$s6shapes5PointV1xSivg", "_$s4main3fooyyF", "$S4main3fooyyF", "_T04main3fooyyF", "$sSS6appendyySSF", "$e4main3fooyyF"},
		notMangled: {"", "main", "_Z", "_Ze", "_Zero", "_Zoom_in", "_ZERO", "_Zone1", "_ZTOP", "_ZNAME", "_ZLIB_VERSION", "_RNG_init", "_RName", "_Read", "_R",
			"_REGISTER_1", "_RMS_error2", "_RX_ring0", "_RINGS_2", "_RCC_1", "__libc_start_main", "?", "??", "??? unknown", "$stack", "$s", "$shadow1", "$a", "$x.1", "$t", "$d.12",
			"_T0", "_TIFFOpen", "_T0_init", "_start", "foo::_ZN1a", "operator?", "_ZThread", "_ZGood", "_ZStart", "_dl_1", "_Zab1", "_RNAV1", "_ZNONE", "_Znames", "_Zdl", "_ZNKE",
			"_ZTV", "_ZGVbN2v_acos", "_ZGVnN2v_sin", "_ZGVsMxv_cos", "_ZGV_LLVM_N2v_foo", "_ZGVbN2v_acos_ifunc_selector", "_ZGT1", "_ZGTest_all", "_ZSx1", "_ZTx1"},
	} {
		for _, n := range names {
			if got := schemeOf([]byte(n)); got != want {
				t.Errorf("%q: %q, want %q", n, schemeNames[got], schemeNames[want])
			}
		}
	}
}

func TestSuffixes(t *testing.T) {
	for name, want := range map[string]string{
		"f.cold": "f", "f.cold.1": "f", "f.part.0": "f", "f.isra.0.cold": "f", "f.constprop.12": "f", "f.llvm.123456": "f", "f.lto_priv.0": "f",
		"f(int) [clone .isra.0]": "f(int)", "f(int) [clone .isra.0] [clone .cold]": "f(int)", "f [cold]": "f",
		"f() [clone .actor]": "f() [clone .actor]", "f() [clone .actor] [clone .cold]": "f() [clone .actor]", "f.actor": "f.actor",
		"f": "f", "f.1": "f.1", "f.c": "f.c", "main.main.func1": "main.main.func1", "f.scold": "f.scold", "cold": "cold", ".cold": ".cold",
		"f.": "f.", "f.12": "f.12", "12": "12", "a[1]": "a[1]", "": "", "f.cold1": "f.cold1", "x.hot": "x",
	} {
		if got := withoutSuffix([]byte(name)); string(got) != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name                               string
		relative, mixed, ofMachine, double bool
	}{
		{name: "/usr/src/a.c"},
		{name: "a.c", relative: true},
		{name: "./a/b.c", relative: true},
		{name: "../../a/b.c", relative: true},
		{name: `a\b.c`, relative: true},
		{name: `a\b/c.c`, relative: true, mixed: true},
		{name: `C:\a\b.c`, ofMachine: true}, // D:\a is where GitHub builds
		{name: `C:\src/b.c`, mixed: true},
		{name: `\a/b.c`, mixed: true},
		{name: `/a\b.c`, mixed: true},
		{name: `\\server\b.c`},
		{name: "<built-in>"}, {name: "<command line>"}, {name: "??"}, {name: ""},
		{name: "git:github.com/a/b:src/c.c:rev"}, {name: "hg:hg.mozilla.org/c:xpcom/a.cpp:1"}, {name: "https://a/b.c"},
		{name: "a/b:c.c", relative: true},
		{name: "C:a.c"},
		{name: "/home/joe/a.c", ofMachine: true}, {name: "/home/", ofMachine: false}, {name: "/usr/home/a.c"},
		{name: "/builds/worker/a.c", ofMachine: true}, {name: "/build/glibc-1/a.c", ofMachine: true}, {name: "/Users/x/a.m", ofMachine: true},
		{name: `c:\USERS\joe\a.c`, ofMachine: true}, {name: "D:/users/joe/a.c", ofMachine: true}, {name: `C:\user\a.c`}, {name: "/tmp/a.c", ofMachine: true},
		{name: "./nptl/nptl/a.c", relative: true, double: true},
		{name: "/x/a/b/a/b/c.c", double: true}, {name: "/x/a/b/c/a/b/c/d.c", double: true},
		{name: "/a/b/a/c.c"}, {name: "/a/a"}, {name: "/a/ab/b.c"}, {name: "../../../a.c", relative: true}, {name: "/a/././b.c"}, {name: "//a//b.c"},
		{name: `C:\x\x\b.c`, double: true},
		{name: strings.Repeat("/", 1000) + "a"}, {name: strings.Repeat("a/", 1000), relative: true, double: true},
	} {
		name := []byte(c.name)
		if isRelative(name) != c.relative || isMixed(name) != c.mixed || isMachinePath(name) != c.ofMachine || isDoubled(name) != c.double {
			t.Errorf("%.50q: relative %v, mixed %v, of a machine %v, doubled %v", name, isRelative(name), isMixed(name), isMachinePath(name), isDoubled(name))
		}
	}
}

func TestNameFlags(t *testing.T) {
	for name, want := range map[string]nameFlags{
		"": 0, "f(int)": 0, "a\tb": 0, "a\x00": nameControl, "\x1f": nameControl, "\x7f": nameControl, "a\rb": 0,
		"é": nameHigh, "\u0085": nameHigh | nameControl, "\x85": nameHigh | nameNotUTF8, "\xed\xa0\x80": nameHigh | nameNotUTF8, "\xc0\x80": nameHigh | nameNotUTF8,
		"\u202e": nameHigh | nameInvisible, "\u2066": nameHigh | nameInvisible, "\u200b": nameHigh | nameInvisible, "\ufeff": nameHigh | nameInvisible,
		"\u00ad": nameHigh | nameInvisible, "\u2028": nameHigh | nameInvisible, "\U000e0041": nameHigh | nameInvisible, "\u3164": nameHigh | nameInvisible,
		"\ufe00": nameHigh | nameInvisible, "\ufe0f": nameHigh | nameInvisible, "\ufdff": nameHigh, "\ufe10": nameHigh, "\u00a0": nameHigh,
		"日本語": nameHigh, "\ufffd": nameHigh, "\x01\xff\u202e": nameHigh | nameControl | nameNotUTF8 | nameInvisible,
	} {
		if got := scanName([]byte(name)); got != want {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
		for _, flag := range []nameFlags{nameControl, nameNotUTF8, nameInvisible} {
			if _, bad := findInName([]byte(name), flag); (bad != nil) != (want&flag != 0) {
				t.Errorf("%q: found %q for %b", name, bad, flag)
			}
		}
	}
}
