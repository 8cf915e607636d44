package text

import (
	"testing"
)

func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"":                 "",
		"plain \\ text":    "plain \\ text",
		"caf\u00e9 \u65e5": "caf\u00e9 \u65e5",
		"a\x1b[31mb\a\n":   `a\x1b[31mb\a\n`,
		"bad\xe9":          `bad\xe9`,
		"\u202eback":       `\u202eback`,
		"\x7f\u0085":       `\x7f\u0085`,
		"\ufffd":           "\ufffd",
		"f\u3164\ufe0f":    `f\u3164\ufe0f`,
	} {
		got := Printable(s)
		if got != want || IsPrintable(s) != (s == want) || !IsPrintable(got) {
			t.Errorf("Printable(%q) = %q, want %q; %v", s, got, want, IsPrintable(s))
		}
	}
}

func TestCount(t *testing.T) {
	for want, got := range map[string]string{
		"0 files": Count(0, "file"), "1 file": Count(1, "file"), "2 addresses": Count(uint64(2), "address"),
	} {
		if got != want {
			t.Errorf("Count is %q, want %q", got, want)
		}
	}
}

func TestBase(t *testing.T) {
	for path, want := range map[string]string{"": "", "a": "a", "/usr/lib/a.so": "a.so", `C:\x/y\a.dll`: "a.dll", "a/": ""} {
		if got := Base(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
