package symfmt

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCleanName(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "operator new[](unsigned long)", "operator new[](unsigned long)"},
		{"utf-8", "日本 é \u00a0", "日本 é \u00a0"},
		{"not utf-8", "a\x80\xffb\xc2\n", "a\ufffdb\ufffd"},
		{"empty", "", "!"},
		{"blank", " \t\r\n", "!"},
		{"line feed", "a\nb", "a b"},
		{"run of controls", "a\r\n\x00\x7fb", "a b"},
		{"two runs", "a\n \nb", "a   b"},
		{"blanks around", "\t a b \x1b", "a b"},
		{"blanks inside", "a  b", "a  b"},
		{"escape", "\x1b[31mred", "[31mred"},
		{"C1", "a\u0085b\u009fc", "a b c"},
		{"separators", "a\u2028b\u2029c", "a b c"},
		{"beside separators", "a\u2027b\u202ac", "a\u2027b\u202ac"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := CleanName(tt.in, "!")
			if got != tt.want {
				t.Errorf("CleanName(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if again := CleanName(got, "!"); again != got {
				t.Errorf("CleanName(%q) = %q: not done at once", got, again)
			}
		})
	}
	long := CleanName(strings.Repeat("é", maxName), "!")
	if len(long) > maxName || len(long) < maxName-4 || !utf8.ValidString(long) {
		t.Errorf("a name of %d bytes becomes one of %d, valid %v", 2*maxName, len(long), utf8.ValidString(long))
	}
}

func TestCleanWord(t *testing.T) {
	for in, want := range map[string]string{"": "?", "Linux": "Linux", "Mac OS X": "Mac_OS_X", "\n": "?", " a\tb ": "a_b"} {
		if got := cleanWord(in, "?"); got != want {
			t.Errorf("cleanWord(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": noID, "12aF": "12aF", "12-34 z": "1234", "ß": noID, "1ß2": "12"} {
		if got := cleanID(in); got != want {
			t.Errorf("cleanID(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"": "", " \n": "", ".cfa: $rsp 8 +": ".cfa: $rsp 8 +", " .cfa:  $rsp\t8 + ": ".cfa: $rsp 8 +"} {
		if got := cleanRules(in); got != want {
			t.Errorf("cleanRules(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	var texts texts
	var want, got []string
	for i := range 5000 {
		s := strings.Repeat(string(rune('a'+i%26)), i%200)
		if i%1000 == 0 {
			s = strings.Repeat("z", textChunk)
		}
		want, got = append(want, s), append(got, texts.keep([]byte(s)))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("text %d is %.50q, want %.50q", i, got[i], want[i])
		}
	}
}

func TestFileNames(t *testing.T) {
	m := &Module{
		Files:   []File{{3, "three"}, {maxID, "last"}, {2_000_000, "far"}, {3, "again"}, {0, "zero"}},
		Origins: []InlineOrigin{{ID: 1, Name: "one"}, {ID: maxID, Name: "last"}},
	}
	names := m.FileNames()
	for id, want := range map[FileID]string{3: "three", maxID: "last", 2_000_000: "far", 0: "zero", 1: "", maxID - 1: "", 5000: ""} {
		if got, ok := names.Name(id); got != want || ok != (want != "") {
			t.Errorf("file %d is %q, %v, want %q", id, got, ok, want)
		}
	}
	for id, want := range map[OriginID]string{1: "one", maxID: "last", 0: ""} {
		if got, ok := m.OriginNames().Name(id); got != want || ok != (want != "") {
			t.Errorf("origin %d is %q, %v, want %q", id, got, ok, want)
		}
	}
}

// TestIndexGrows pins that a number that was outside the slice when added is
// found after the slice has grown past it.
func TestIndexGrows(t *testing.T) {
	var x idIndex
	x.add(3000)
	for i := range uint32(2000) {
		x.add(i)
	}
	x.add(8000)
	if x.add(3000) || x.add(8000) {
		t.Error("a number is added twice")
	}
	for id, want := range map[uint32]uint32{3000: 0, 0: 1, 1999: 2000, 8000: 2001} {
		if pos, ok := x.find(id); !ok || pos != want {
			t.Errorf("number %d is at %d, %v, want %d", id, pos, ok, want)
		}
	}
}
