package dwarf2sym_test

import (
	"bytes"
	"strings"
	"testing"
)

// Every fixture's symbol file conforms to the grammar.
func TestGrammarOfFixtures(t *testing.T) {
	for _, c := range fixtures(t) {
		text := dumpText(t, fixture{name: c.name, file: c.file, debug: c.debug}, 1)
		if at := bytes.Index(text, []byte("\n# ")); at >= 0 {
			text = text[:at+1] // the problems
		}
		if err := checkGrammar(bytes.NewReader(text)); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The examples in the format's description conform to the grammar, and each of them with
// one mistake does not.
func TestGrammarFindsMistakes(t *testing.T) {
	const good = `MODULE Linux x86 D3096ED481217FD4C16B29CD9BC208BA0 firefox-bin
INFO CODE_ID D46E09D3D48121D4C16B29CD9BC208BA
INFO GENERATOR a 1.0
FILE 2 /home/jimb/mc/in/browser/app/nsBrowserApp.cpp
FILE 4 a file.cpp
INLINE_ORIGIN 2 nsQueryInterfaceWithError::operator()(nsID const&, void**) const
FUNC m c184 30 0 nsQueryInterfaceWithError::operator()(nsID const&, void**) const
INLINE 0 10 4 2 c184 10 c1a0 b
INLINE 1 11 2 2 c186 2 c1a0 1
INLINE 0 12 2 2 c194 4
c184 7 59 4
c190 8 60 2
PUBLIC m 2160 0 Public2_1
STACK CFI INIT 804c4b0 40 .cfa: $esp 4 + .ra: .cfa 4 - ^
STACK CFI 804c4b1 .cfa: $esp 8 + $ebp: .cfa 8 - ^
STACK CFI 804c4b3 .ra: .undef
`
	if err := checkGrammar(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"nothing", good, "", "no MODULE"},
		{"no MODULE", "MODULE Linux", "FILE 1", "before the MODULE"},
		{"two MODULEs", "INFO", "MODULE Linux x86 D3096ED481217FD4C16B29CD9BC208BA0 x\nINFO", "second MODULE"},
		{"system", "Linux", "Plan9", "not a MODULE"},
		{"architecture", "x86 ", "vax ", "not a MODULE"},
		{"id", "D3096ED4", "d3096ed4", "not a MODULE"},
		{"no module name", " firefox-bin", "", "not a MODULE"},
		{"INFO", "CODE_ID ", "CODE_ID 0", "not a INFO"},
		{"INFO twice", "GENERATOR a 1.0", "CODE_ID AA", "CODE_ID is given twice"},
		{"INFO late", "FUNC", "INFO CODE_ID AA\nFUNC", "not behind MODULE"},
		{"end of a line", "Public2_1\n", "Public2_1\r\n", "control character"},
		{"no end of the last line", ".undef\n", ".undef", "EOF"},
		{"empty line", "PUBLIC", "\nPUBLIC", "not a line"},
		{"space at the end", "59 4\n", "59 4 \n", "not a line"},
		{"two spaces", "FILE 4 ", "FILE  4 ", "not a FILE"},
		{"file number", "FILE 4", "FILE 0x4", "not a FILE"},
		{"file twice", "FILE 4", "FILE 2", "twice"},
		{"file without a name", "FILE 4 a file.cpp", "FILE 4 ", "not a FILE"},
		{"origin twice", "INLINE_ORIGIN 2", "INLINE_ORIGIN 2 f\nINLINE_ORIGIN 2", "twice"},
		{"upper-case letters", "c184 30", "C184 30", "not a FUNC"},
		{"0x", "c184 30", "0xc184 30", "not a FUNC"},
		{"no parameter size", "30 0 ns", "30 ns", "not a FUNC"},
		{"size 0", "c184 30", "c184 0", "size 0"},
		{"end of the address space", "c184 30", "ffffffffffffffff 30", "size 30"},
		{"FUNC twice", "PUBLIC", "FUNC c184 1 0 f\nPUBLIC", "second FUNC"},
		{"INLINE too deep", "INLINE 1", "INLINE 2", "no INLINE of level 1"},
		{"INLINE without a FUNC", "FUNC m", "PUBLIC m", "no FUNC"},
		{"INLINE's file", "10 4 2", "10 5 2", "FILE 5"},
		{"INLINE's origin", "10 4 2", "10 4 3", "INLINE_ORIGIN 3"},
		{"INLINE without ranges", "INLINE 0 12 2 2 c194 4", "INLINE 0 12 2 2", "not a INLINE"},
		{"INLINE with half a range", "c194 4", "c194 4 c198", "not a INLINE"},
		{"INLINE outside of its FUNC", "c194 4", "c194 40", "outside of its parent"},
		{"INLINE between its parent's ranges", "c186 2", "c196 2", "outside of its parent"},
		{"line's file", "59 4", "59 3", "FILE 3"},
		{"line outside", "c190 8", "c1b0 8", "outside of FUNC"},
		{"line twice", "c190 8", "c184 8", "ends at"},
		{"line number", "8 60 2", "8 -60 2", "not a line"},
		{"line number too large", "8 60 2", "8 4294967296 2", "out of range"},
		{"unknown record", "PUBLIC", "PRIVATE", "not a line"},
		{"PUBLIC without a name", " Public2_1", "", "not a PUBLIC"},
		{"PUBLIC twice", "STACK CFI INIT", "PUBLIC 2160 0 b\nSTACK CFI INIT", "second PUBLIC"},
		{"STACK of another kind", "STACK CFI 804c4b1", "STACK CFJ 804c4b1", "not a STACK"},
		{"no INIT", "INIT 804c4b0 40", "804c4b0", "before the end of INIT"},
		{"INIT without a size", "INIT 804c4b0 40", "INIT 804c4b0", "not a STACK"},
		{"INIT without .ra", " .ra: .cfa 4 - ^", "", "none for .ra"},
		{"INIT twice", "STACK CFI 804c4b3", "STACK CFI INIT 804c4ef 4 .cfa: $esp", "lies in the one"},
		{"CFI behind its INIT", "804c4b3", "804c4f0", "before the end of INIT"},
		{"CFI out of order", "804c4b3", "804c4b1", "an address after 804c4b1"},
		{"CFI without rules", "804c4b3 .ra: .undef", "804c4b3", "not a STACK"},
		{"no colon", ".ra: .undef", ".ra .undef", "register and a colon"},
		{"register twice", ".ra: .undef", "$ebp: 1 $ebp: 2", "two rules"},
		{"operator", "8 - ^", "8 - !", "neither operand"},
		{"too few operands", "$esp 8 +", "8 +", "takes 2, has 1"},
		{"too many operands", "$esp 8 +", "$esp 8", "2 values"},
		{"no expression", ".ra: .undef", ".ra:", "0 values"},
		{"CFA by itself", "$esp 8 +", ".cfa 8 +", "by itself"},
		{"CFA undefined", "$esp 8 +", ".undef", "neither operand"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s: nothing is changed", c.name)
			continue
		}
		err := checkGrammar(strings.NewReader(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}
