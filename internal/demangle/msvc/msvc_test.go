package msvc

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

// msvc returns a name in a form, or the name itself.
func msvc(raw string, form form) string {
	out, err := appendForm(nil, raw, form)
	if err != nil {
		return raw
	}
	return string(out)
}

// goldenNames returns the names of golden/internal/demangle/msvc/names.txt.
func goldenNames(t testing.TB) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "internal", "demangle", "msvc", "names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "\t") {
			names = append(names, strings.TrimSuffix(line, "\n"))
		}
	}
	return names
}

// Each name in golden/internal/demangle/msvc/names.txt is followed by what it stands for, in full and as a symbol
// file has it. Most names are from golden/input/src/msvcnames.cc.
func TestMSVC(t *testing.T) {
	names := goldenNames(t)
	if len(names) < 600 {
		t.Errorf("%d names", len(names))
	}
	var out bytes.Buffer
	for _, raw := range names {
		out.WriteString(raw + "\n\t" + msvc(raw, full) + "\n\t" + msvc(raw, record) + "\n")
	}
	testenv.Golden(t).Assert(t, "names.txt", out.Bytes())
}

// Names in symbol files equal those in type records, where there are any: what compilers print within
// <> differs from what is printed for arguments.
func TestMSVCRecord(t *testing.T) {
	for raw, want := range map[string]string{
		"?f@@YAXXZ":                                  "f()",
		"?f@C@ns@@QBEHPBDAAH@Z":                      "ns::C::f(char const*, int&) const",
		"?f@@YAXPAPAXQAHP6AHH@ZP8S@@AEXXZ@Z":         "f(void**, int* const, int (*)(int), void (S::*)())",
		"?f@@YAXAAY02HPAY02$$CBHPQS@@H_J_K@Z":        "f(int (&)[3], int const (*)[3], int S::*, long long, unsigned long long)",
		"??$f@PAPAXABQBDP6AXHPAD@ZP6APAHXZ_J@@YAXXZ": "f<void * *,char const * const &,void (__cdecl*)(int,char *),int * (__cdecl*)(void),__int64>()",
		"??0?$C@V?$D@H@@@@QAE@XZ":                    "C<D<int> >::C<D<int> >()",
		"?f@?A0x1234abcd@@YAXUS@1@W4E@@TU@@@Z":       "(anonymous namespace)::f((anonymous namespace)::S, E, U)",
		"?catch$0@?0??f@ns@@YAXH@Z@4HA":              "`ns::f'::`1'::catch$0",
		"?dtor$5@?0?main@4HA":                        "`main'::`1'::dtor$5",
		"?f@@YA_L_L_M@Z":                             "f(__int128, unsigned __int128)",
		"?x@?1??f@@YAXH@Z@4HA":                       "`f'::`2'::x",
		"??$f@$1?g@@YAXXZ$1?x@@3HA@@YAXXZ":           "f<&g,&x>()",
		"??_GC@@UAEPAXI@Z":                           "C::`scalar deleting destructor'(unsigned int)",
		"??_7C@@6B@":                                 "C::`vftable'",
		"?x@C@@2HA":                                  "C::x",
		"??BC@@QBEPBDXZ":                             "C::operator char const*() const",
		"??__Ex@C@@YAXXZ":                            "`dynamic initializer for 'C::x''()",
		"??__E?x@C@@2HA@@YAXXZ":                      "`dynamic initializer for 'C::x''()",
		"?f@C@@W7EAAXXZ":                             "[thunk]: C::f`adjustor{8}'()",
		"?f@@$$hYAXXZ":                               "f()",
		"?printf@@YAHPBDZZ":                          "printf(char const*, ...)",
		"?f@@YAPAUS@@P6APAU1@PAU1@@Z@Z":              "f(S* (*)(S*))",
		"?f@@YAXP6AP6AXH@ZD@Z@Z":                     "f(void (*(*)(char))(int))",
		"?f@@YAXXZjunk":                              "?f@@YAXXZjunk",
		"?f@@YAX9@Z":                                 "?f@@YAX9@Z",
		"?@@YAXXZ":                                   "?@@YAXXZ",
		"??@0123456789abcdef0123456789abcdef@":       "??@0123456789abcdef0123456789abcdef@",
		"?f@@YAX" + strings.Repeat("PA", 2*mangled.MaxDepth) + "H@Z": "",
		"?" + strings.Repeat("a", mangled.MaxMangled-1):              "",
		"?f" + strings.Repeat("@a", 1<<20) + "@@YAXXZ":               "",
		"?f@" + strings.Repeat("?1??f@", 1<<10) + "@YAXXZ":           "",
		"?f@@3" + strings.Repeat("P6A", 1<<10):                       "",
		"??" + strings.Repeat("$?", 1<<10):                           "",
		"?x@@3Y" + strings.Repeat("P", 15) + "@":                     "",
		"??_C@_0" + strings.Repeat("P", 1000) + "@":                  "",
		"??_C@_02@" + strings.Repeat("a", 200) + "@":                 "",
		"??_C@_1PP@AAAAAAAA@" + strings.Repeat("a", 300) + "@":       "",
	} {
		if want == "" {
			want = raw
		}
		got := raw
		if out, err := Append([]byte("before"), raw); err == nil {
			got = strings.TrimPrefix(string(out), "before")
		}
		if got != want {
			t.Errorf("%.100s\n  got  %.200s\n  want %.200s", raw, got, want)
		}
	}
}

// Values of classes, which llvm-undname does not know, are printed as clang prints them in types.
func TestMSVCValues(t *testing.T) {
	for raw, want := range map[string]string{
		"?f@?$A@$2UD1@@2UB1@@H06@H07@@@QEAAXXZ":                                                   "A<D1{{7},8}>::f()",
		"?f@?$A@$2UEm@@@@@QEAAXXZ":                                                                "A<Em{}>::f()",
		"?f@?$A@$2UQ@@2UP@@H01D0HJ@@NBLPPIAAAAAAAAAAAA@_N00W4E@@01@@@QEAAXXZ":                     "A<Q{{2,121},-1.5,1,2}>::f()",
		"?f@?$A@$2UR@@3H00@01@02@@@@@QEAAXXZ":                                                     "A<R{{1,2,3}}>::f()",
		"?f@?$A@$2US2@@PEBHE?gx@@3HAPEAH0A@P6AXH@ZE?gf@@YAXH@ZPEQP@@H84@a@@P84@EAAXXZN@@@QEAAXXZ": "A<S2{&gx,0,&gf,&P::a,nullptr}>::f()",
		"?f@?$A@$2UX@@7TU@@i@04@@@@QEAAXXZ":                                                       "A<X{{.i=5}}>::f()",
		"?f@?$A@$7TU@@f@AEAAAAAAA@@@@QEAAXXZ":                                                     "A<U{.f=2}>::f()",
		"?f@?$A@$MMADPIAAAAA@@@QEAAXXZ":                                                           "A<1>::f()",
		"?f@?$AF@$ADPMAAAAA@$BLPNAAAAAAAAAAAAA@@@QEAAXXZ":                                         "AF<1.5,-0.25>::f()",
		"?f@?$A@$2UP@@H00D0HI@@@@QEAAXXZjunk":                                                     "?f@?$A@$2UP@@H00D0HI@@@@QEAAXXZjunk",
		"?f@?$A@$2" + strings.Repeat("2UP@@", 1000):                                               "?f@?$A@$2" + strings.Repeat("2UP@@", 1000),
	} {
		if got := msvc(raw, record); got != want {
			t.Errorf("%.100s\n  got  %s\n  want %s", raw, got, want)
		}
	}
}

// Where there are two opinions on what a digit refers to, the compiler that wrote the name is
// right.
func TestMSVCReferences(t *testing.T) {
	for raw, want := range map[string]string{
		// Microsoft's compiler counts namespaces without names, clang does not.
		"?f@?A0x1234abcd@@YAXUS@1@@Z":                "void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S)",
		"?f@?A0x1234ABCD@@YAXUS@?A0x1234ABCD@@U1@@Z": "void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S, struct S)",
		"?f@?A0x12345678@@YAXUS@?A0x12345678@@U1@@Z": "void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S, struct S)",
		"?f@?A0x12345678@@YAXUS@1@@Z":                "void __cdecl `anonymous namespace'::f(struct `anonymous namespace'::S)",
		// The name of a literal's operator is counted, the name of a function that is an argument
		// only once.
		"??__K_A@@YA?AU0@_K@Z":                         "struct _A __cdecl operator \"\"_A(unsigned __int64)",
		"?m@?$P@$1??$q@H@@YAXH@ZUB@@PAU1@@@QAEXUB@@@Z": "public: void __thiscall P<&void __cdecl q<int>(int), struct B, struct B *>::m(struct B)",
	} {
		if got := msvc(raw, full); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", raw, got, want)
		}
	}
}

// costlyNames are names that would become far longer than they are, by how deep they nest.
var costlyNames = []func(n int) string{
	func(n int) string { // each template has the one before twice, and again by its number
		name := "H"
		for range n {
			name = "U?$a@" + name + "U?$b@" + name[:min(len(name), 200)] + "@@U1@U1@U1@U1@@@"
		}
		return "?f@@YAX" + name + "@Z"
	},
	func(n int) string { // numbers of parameters
		name := "?f@@YAX"
		for i := range min(n, 10) {
			name += "P6AXPAH" + strings.Repeat(string(rune('0'+i)), 40) + "@Z"
		}
		return name + strings.Repeat("9", 10*n) + "@Z"
	},
	func(n int) string { // numbers of names
		return "?f@" + "?$a@V?$b@V?$c@H@@V?$d@V1@V1@V1@@@@@" + strings.Repeat("1", n) + "@@YAXXZ"
	},
	func(n int) string { // of templates in templates, each of which is a scope nine times
		name := "H"
		for range n {
			name = "U?$a@" + name + "@" + "111111111" + "@"
		}
		return "?f@@YAX" + name + "@Z"
	},
}

// Work and length are bounded by the length of a name, whatever its numbers refer to.
func TestMSVCCost(t *testing.T) {
	costly := 0
	for i, name := range costlyNames {
		for _, n := range []int{1, 3, 10, 30, 100, 1000} {
			raw := name(n)
			d := new(decoder)
			out, err := d.appendName(nil, raw, full)
			if errors.Is(err, mangled.ErrCostly) {
				costly++
			}
			if len(out) > mangled.LengthAllowed(raw) || mangled.StepsAllowed(raw)-d.Steps > mangled.StepsAllowed(raw)+1 {
				t.Errorf("shape %d, %d: %d bytes of %d, %d steps left", i, n, len(out), len(raw), d.Steps)
			}
		}
	}
	if costly < 3 {
		t.Errorf("%d names were costly", costly)
	}
}

// A name takes no memory beyond the result.
func TestMSVCAllocs(t *testing.T) {
	names := goldenNames(t)
	d, buf := new(decoder), make([]byte, 0, 1<<16)
	all := func() {
		for _, raw := range names {
			d.appendName(buf, raw, record)
		}
	}
	all()
	if n := testing.AllocsPerRun(10, all); n > 0 {
		t.Errorf("%v allocations for %d names", n, len(names))
	}
}

// No name with a missing, doubled or changed byte makes the decoder panic, or leaves anything
// behind for the next name.
func TestMSVCDamaged(t *testing.T) {
	d := new(decoder)
	for _, raw := range goldenNames(t) {
		if len(raw) > 150 {
			continue
		}
		for i := range len(raw) {
			for _, bad := range []string{raw[:i], raw[:i] + raw[i+1:], raw[:i] + "?" + raw[i:], raw[:i] + "@" + raw[i+1:]} {
				out, err := d.appendName([]byte("x"), bad, full)
				if fresh, freshErr := new(decoder).appendName([]byte("x"), bad, full); !bytes.Equal(out, fresh) || err != freshErr {
					t.Fatalf("%s: %s, %v; %s, %v from a new decoder", bad, out, err, fresh, freshErr)
				}
				if err != nil && string(out) != "x" {
					t.Fatalf("%s: %s, %v", bad, out, err)
				}
			}
		}
	}
}

func FuzzMSVC(f *testing.F) {
	for _, raw := range goldenNames(f) {
		f.Add(raw)
	}
	for _, name := range costlyNames {
		f.Add(name(5))
		f.Add(name(100))
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, form := range []form{full, record} {
			d := new(decoder)
			out, err := d.appendName([]byte("x"), raw, form)
			if err != nil && string(out) != "x" || err == nil && len(out) == 1 || len(out) > 1+mangled.LengthAllowed(raw) {
				t.Errorf("%q: %q, %v", raw, out, err)
			}
			if d.Steps < -mangled.MaxTree {
				t.Errorf("%q: %d steps beyond what is allowed", raw, -d.Steps)
			}
		}
	})
}

func BenchmarkMSVC(b *testing.B) {
	names := goldenNames(b)
	buf := make([]byte, 0, 1<<16)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		appendForm(buf, names[i%len(names)], record)
	}
}
