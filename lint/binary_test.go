package lint

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/finding"
)

// goldenPairs are the binaries of golden/input whose symbol files are in
// golden/dwarf2sym.
func goldenPairs(t *testing.T, fn func(t *testing.T, name, elfPath, symPath string)) {
	syms, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil || len(syms) == 0 {
		t.Fatal("no golden symbol files", err)
	}
	for _, sym := range syms {
		name := strings.TrimSuffix(filepath.Base(sym), ".sym")
		path := filepath.Join(testenv.Root(t), "golden", "input", name+".elf")
		if _, err := os.Stat(path); err == nil {
			t.Run(name, func(t *testing.T) { fn(t, name, path, sym) })
		}
	}
}

// goldenFindings lists the number of findings more severe than notes in the golden files, by rule,
// with the reason why they are true.
var goldenFindings = map[string]map[string]int{
	// BOLT leaves the old code where it was, and writes the functions elsewhere.
	"bolt-clang5": {"SYM505": 1},
	"icf-bolt":    {"SYM505": 1},
	// A function that is not exported, in a stripped binary.
	"nodebug-dynsym": {"SYM505": 1},
	// Likewise, in a program without any names.
	"uncovered-stripped": {"SYM505": 1},
	// A byte of assembly before the first symbol of its section.
	"init-parts": {"SYM505": 1},
	// Call frame information that was written by hand for code of nops.
	"debug-frame": {"SYM551": 4},
	// Free Pascal describes neither epilogues nor pushes before a prologue.
	"lang-pascal":         {"SYM551": 1, "SYM553": 5},
	"eh":                  {"SYM557": 1, "SYM553": 3},
	"eh-encodings":        {"SYM551": 5, "SYM557": 10}, // five encodings of pointers are unusual
	"sframe-text-segment": {"SYM551": 1, "SYM553": 2},
	"sframe-text-v3":      {"SYM551": 1, "SYM553": 2},
}

// The symbol files that symtool writes for the test binaries agree with the binaries.
func TestBinaryGoldens(t *testing.T) {
	got := map[string]map[string]int{}
	goldenPairs(t, func(t *testing.T, name, elfPath, symPath string) {
		text, err := os.ReadFile(symPath)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, f := range lintBinary(t, text, symtest.Open(t, elfPath), Options{}).Findings {
			if f.Severity != finding.Note {
				counts[f.Rule.ID]++
				t.Log(f.String())
			}
		}
		if len(counts) > 0 {
			got[name] = counts
		}
	})
	if !maps.EqualFunc(got, goldenFindings, maps.Equal) {
		for name, counts := range got {
			if !maps.Equal(counts, goldenFindings[name]) {
				t.Errorf("%s: %v, want %v", name, counts, goldenFindings[name])
			}
		}
		for name := range goldenFindings {
			if got[name] == nil {
				t.Errorf("%s: nothing found", name)
			}
		}
	}
}

// swap replaces a text, which must occur.
func swap(old, new string) func(string) string {
	return func(s string) string {
		if !strings.Contains(s, old) {
			panic("no " + old)
		}
		return strings.Replace(s, old, new, 1)
	}
}

// Each damage is found by its rule, and by no other.
func TestBinaryRules(t *testing.T) {
	const store = "/store/"
	var reported strings.Builder // whole findings
	ran, cases := 0, []struct {
		name, pair string
		binary     string // if not the pair's
		edit       func(string) string
		options    Options
		want       []string // ID, line and a part of each finding
	}{
		{"as it is", "gcc-dwarf5", "", swap("", ""), Options{}, nil},
		{"id", "gcc-dwarf5", "", swap("A27E41F9", "A27E41F8"), Options{}, []string{"SYM501:1 its build-id gives A27E41F938E3932E94FB8368AAFCB6300"}},
		{"hash", "no-build-id", "", func(s string) string { f := strings.Fields(s); return strings.Replace(s, f[3], f[3][1:]+"1", 1) }, Options{}, []string{"SYM501:1 as it has no build-id, gives"}},
		{"another binary", "gcc-dwarf5", "sframe-text-v2.elf", swap("", ""), Options{}, []string{"SYM501:1 nothing else is compared"}},
		{"another binary all the same", "gcc-dwarf5", "sframe-text-v2.elf", swap("", ""), Options{Rules: []*finding.Rule{RuleByID("SYM506")}},
			[]string{"SYM506:9 FUNC at 0x340", "SYM506:12 FUNC at 0x350", "SYM506:17 FUNC at 0x370", "SYM506:69 FUNC at 0x480", "SYM506:74 FUNC at 0x4c0", "SYM506:77 FUNC at 0x4d0"}},
		{"lower case id", "gcc-dwarf5", "", swap("A27E41F9", "a27e41f9"), Options{}, nil},
		{"cpu", "gcc-dwarf5", "", swap("Linux x86_64", "Linux arm64"), Options{}, []string{`SYM502:1 MODULE is for CPU "arm64", the binary for x86_64`}},
		{"system", "gcc-dwarf5", "", swap("Linux x86_64", "windows x86_64"), Options{}, []string{"SYM502:1 whose binaries are not ELF"}},
		{"stored", "gcc-dwarf5", "", swap("", ""), Options{StorePath: "a.so/A27E41F938E3932E94FB8368AAFCB6301/a.so.sym"},
			[]string{"SYM503:1 stored under id", `SYM503:1 stored under name "a.so", MODULE has "gcc-dwarf5.elf"`}},
		{"stored by path", "gcc-dwarf5", "", swap("", ""), Options{File: store + "gcc-dwarf5.elf/A27E41F938E3932E94FB8368AAFCB6301/gcc-dwarf5.elf.sym"}, []string{"SYM503:1 stored under id"}},
		{"stored right", "gcc-dwarf5", "", swap("", ""), Options{File: store + "gcc-dwarf5.elf/A27E41F938E3932E94FB8368AAFCB6300/gcc-dwarf5.elf.sym"}, nil},
		{"no store", "gcc-dwarf5", "", swap("", ""), Options{File: "build/x86/gcc-dwarf5.elf.sym"}, nil},
		{"lost function", "sframe-text-v2", "", swap("PUBLIC 14bc 0 framed\n", ""), Options{}, []string{`SYM504:0 function symbol "framed" at 0x14bc`}},
		{"lost first function", "gcc-dwarf5", "", swap("FUNC 340 c 0 helper\n", "FUNC 341 b 0 helper\n"), Options{},
			[]string{`SYM504:0 function symbol "helper" at 0x340`, "SYM505:0 0x1 of 0x1a8 bytes of .text (0.2 %) have neither FUNC nor PUBLIC, in 1 piece: 0x340 (0x1 bytes)"}},
		{"not in code", "gcc-dwarf5", "", swap("FUNC 340", "FUNC 10 8 0 data\nFUNC 340"), Options{}, []string{"SYM506:9 FUNC at 0x10 is outside"}},
		{"lost FDE", "gcc-dwarf5", "", swap("STACK CFI INIT 350 12 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", ""), Options{}, []string{"SYM507:0 begins at 0x350 (0x12 bytes): no STACK CFI INIT does"}},
		{"covered FDE", "gcc-dwarf5", "", func(s string) string {
			return swap("STACK CFI INIT 340 c", "STACK CFI INIT 340 22")(swap("STACK CFI INIT 350 12 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "")(s))
		}, Options{}, []string{"SYM508:88 STACK CFI INIT at 0x340 has 0x22 bytes", "SYM507:88 begins at 0x350, where a STACK CFI INIT of 0x340 covers it"}},
		{"size", "gcc-dwarf5", "", swap("STACK CFI INIT 350 12", "STACK CFI INIT 350 11"), Options{}, []string{"SYM508:89 STACK CFI INIT at 0x350 has 0x11 bytes"}},
		{"sframe, instructions", "sframe-text-v2", "", swap("STACK CFI 14bd .cfa: $rsp 16 + $rbp: .cfa -16 + ^", "STACK CFI 14bd .cfa: $rsp 24 + $rbp: .cfa -16 + ^"), Options{},
			[]string{"SYM509:10 at 0x14bd .cfa is $rsp +24, in .sframe $rsp +16", "SYM553:10 the CFA is $rsp + 0x10, the rule says + 0x18"}},
		{"sframe, frame pointer", "sframe-text-v2", "", swap("$rbp: .cfa -16 + ^", "$rbp: .cfa -24 + ^"), Options{},
			[]string{"SYM509:10 at 0x14bd the frame pointer is at .cfa -24, in .sframe at .cfa -16",
				"SYM555:10 at 0x14bd by the instructions $rbp is saved at .cfa - 0x10, the rule says at .cfa - 0x18: wrong at 5 of"}},
		{"instructions at calls", "gcc-dwarf5", "", swap("STACK CFI 384 .cfa: $rsp 64 +", "STACK CFI 384 .cfa: $rsp 80 +"), Options{}, []string{"SYM551:97 at 0x384 by the instructions the CFA is $rsp + 0x40, the rule says + 0x50: wrong at"}},
		{"saved elsewhere", "gcc-dwarf5", "", swap("$r13: .cfa -32 + ^", "$r13: .cfa -40 + ^"), Options{},
			[]string{"SYM555:93 at 0x376 by the instructions $r13 is saved at .cfa - 0x20, the rule says at .cfa - 0x28: wrong at"}},
		{"another register", "gcc-dwarf5", "", swap("$r13: .cfa -32 + ^", "$r12: .cfa -32 + ^"), Options{},
			[]string{"SYM555:93 at 0x376 by the instructions $r12 is in its register and was not saved yet, the rule says at .cfa - 0x20"}},
		{"no rule", "gcc-dwarf5", "", swap(" $rbx: .cfa -56 + ^", ""), Options{},
			[]string{"SYM556:97 at 0x395 by the instructions $rbx is saved at .cfa - 0x38 and its register overwritten, no rule says where it is: wrong at"}},
		{"return address", "gcc-dwarf5", "", swap("STACK CFI INIT 370 10f .cfa: $rsp 8 + .ra: .cfa -8 + ^", "STACK CFI INIT 370 10f .cfa: $rsp 8 + .ra: .cfa -16 + ^"), Options{},
			[]string{"SYM554:90 at 0x370 by the instructions the return address is saved at .cfa - 0x8, the rule says at .cfa - 0x10: wrong at"}},
		{"whole leaf", "gcc-dwarf5", "", swap("STACK CFI INIT 480 3a .cfa: $rsp 8 +", "STACK CFI INIT 480 3a .cfa: $rsp 16 +"), Options{}, []string{"SYM551:106 at 0x480 by the instructions the CFA is $rsp + 0x8, the rule says + 0x10 (the CFA is also known where it returns"}},
		{"name", "gcc-dwarf5", "", swap(" gcc-dwarf5.elf\n", " other.so\n"), Options{}, nil},
		{"DT_SONAME", "soname", "", swap("", ""), Options{}, nil},
		{"DT_SONAME with folders", "soname", "", swap(" libnest.so.1\n", " /lib/libnest.so.1\n"), Options{}, nil},
		{"name of the file", "soname", "", swap(" libnest.so.1\n", " libnest.so.1.2.3\n"), Options{},
			[]string{`SYM511:1 MODULE name "libnest.so.1.2.3" is not the binary's DT_SONAME, "libnest.so.1"`}},
		{"name of the file, once", "soname", "", func(s string) string {
			module, rest, _ := strings.Cut(strings.Replace(s, " libnest.so.1\n", " x.so\n", 1), "\n")
			return module + "\n" + module + "\n" + rest
		}, Options{}, []string{"SYM511:1 MODULE name"}},
		{"stored under DT_SONAME, too", "soname", "", swap(" libnest.so.1\n", " libnest.so.1.2.3\n"),
			Options{Stored: func(name string) bool { return name == "libnest.so.1" }}, nil},
		{"stored, not under DT_SONAME", "soname", "", swap(" libnest.so.1\n", " libnest.so.1.2.3\n"),
			Options{Stored: func(string) bool { return false }}, []string{"SYM511:1 MODULE name"}},
		{"another library", "soname", "", func(s string) string {
			return swap(" C83258DE", " C83258DF")(swap(" libnest.so.1\n", " x.so\n")(s))
		}, Options{}, []string{"SYM501:1 nothing else is compared"}},
		{"debug file's name", "soname", "soname.debug", swap(" libnest.so.1\n", " x.so\n"), Options{}, []string{"SYM510:0 a separate debug file"}},
		{"debug file", "eu-strip", "eu-strip.debug", swap("", ""), Options{}, []string{"SYM510:0 a separate debug file"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := testenv.Root(t)
			text, err := os.ReadFile(filepath.Join(root, "golden", "dwarf2sym", c.pair+".sym"))
			if err != nil {
				t.Fatal(err)
			}
			f := symtest.Open(t, filepath.Join(root, "golden", "input", cmp.Or(c.binary, c.pair+".elf")))
			var got []string
			for _, f := range lintBinary(t, []byte(c.edit(string(text))), f, c.options).Findings {
				if f.Rule.ID != "SYM552" {
					got = append(got, fmt.Sprintf("%s:%d %s", f.Rule.ID, f.Line, f.Message))
					fmt.Fprintf(&reported, "%s: %s (%s)\n", c.name, f.String(), f.Function)
				}
			}
			ran++
			if len(got) != len(c.want) {
				t.Fatalf("got %q\nwant %q", got, c.want)
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			for i := range got {
				place, part, _ := strings.Cut(want[i], " ")
				if !strings.HasPrefix(got[i], place+" ") || !strings.Contains(got[i], part) {
					t.Errorf("got %q\nwant %q", got[i], want[i])
				}
			}
		})
	}
	if ran == len(cases) {
		testenv.Golden(t).Assert(t, "binary.txt", []byte(reported.String()))
	}
}
