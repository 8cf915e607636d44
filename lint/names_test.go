package lint

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
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
			"_ZTV", "_ZGT1", "_ZGTest_all", "_ZSx1", "_ZTx1"},
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

// The place of a finding is that of the name, also behind "m" and many blanks.
func TestNamePlaces(t *testing.T) {
	r := namesOnly(t, "a.sym", Head+"FUNC m 10 1 0 a\x01\nFUNC   20 1  0  b\x01\nPUBLIC m 30 0 c\x01\nPUBLIC 40 0 d\x01\nFILE 1 /e\x01\nINLINE_ORIGIN 1 f\x01\nFUNC 50 1 0\n", nil, 0)
	var got []string
	for i := range r.Findings {
		f := &r.Findings[i]
		line, _, _ := strings.Cut(f.String(), " ")
		got = append(got, line+f.Function)
	}
	want := "a.sym:2:15:a\x01 a.sym:3:17:b\x01 a.sym:4:15:c\x01 a.sym:5:13:d\x01 a.sym:6:8: a.sym:7:17:f\x01 a.sym:8:12:"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%q\nwant\n%q", s, want)
	}
}

// A record without a name is one finding, and bad lines among many of them are
// counted right.
func TestEmptyNames(t *testing.T) {
	for _, c := range []struct {
		text       string
		limit      int
		bad, empty int
	}{
		{Head + "FILE 1\nFUNC 10 1 0\nPUBLIC 10 0 \nINLINE_ORIGIN 1\t\n", 0, 0, 4},
		{Head + "FILE 1\nbad\nFILE 2\n", 0, 1, 2},
		{Head + strings.Repeat("PUBLIC 10 0\n", 500) + strings.Repeat("bad\n", 7), 3, 7, 500},
		{Head + strings.Repeat("bad\n", 7) + strings.Repeat("PUBLIC 10 0\n", 500), 3, 7, 500},
		{Head + strings.Repeat("bad\nPUBLIC 10 0\n", 50), 9, 50, 50},
		{"MODULE Linux x86_64 " + goodID + "\n", 0, 1, 1},
		{"MODULE Linux x86_64 xyz\nFILE 1\n", 0, 1, 2},
		{Head + "FUNC x 1 0\nFUNC\nPUBLIC\n", 0, 3, 0}, // no records at all
	} {
		for _, alone := range []bool{false, true} {
			words := []string{"SYM101", "SYM601"}
			if alone {
				words = words[:1]
			}
			rules, err := SelectRules(words, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(t.Context(), strings.NewReader(c.text), Options{Rules: rules, MaxPerRule: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			bad, empty := c.bad, c.empty
			if alone {
				bad, empty = strings.Count(c.text, "bad\n")+strings.Count(c.text, "PUBLIC 10 0\n"), 0
			}
			if alone && c.limit == 0 {
				continue
			}
			if r.Counts["SYM101"] != bad || r.Counts["SYM601"] != empty {
				t.Errorf("%.60q: %v, want %d bad and %d empty", c.text, r.Counts, bad, empty)
			}
		}
	}
}

// What symtool dump writes has names without errors; warnings and notes are those
// listed here, and true.
func TestNamesOfDump(t *testing.T) {
	files := 0
	got := map[string]int{}
	root := filepath.Join(testenv.Root(t), "golden", "dwarf2sym")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sym" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		r := namesOnly(t, d.Name(), string(data), nil, 0)
		for i := range r.Findings {
			f := &r.Findings[i]
			got[f.Rule.ID]++
			if f.Severity == Error {
				t.Errorf("%v", f.String())
			}
			if f.Severity == Warning {
				t.Logf("%v", f.String())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files: %v", files, got)
	if files < 100 {
		t.Errorf("%d files only", files)
	}
}

const goodID = "0123456789ABCDEF0123456789ABCDEF0"

// namesOnly checks a text with the rules of names.
func namesOnly(t testing.TB, file, text string, filter *Filter, limit int) *Report {
	t.Helper()
	rules, err := SelectRules([]string{"names"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), strings.NewReader(text), Options{File: file, Rules: rules, Filter: filter, MaxPerRule: limit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
