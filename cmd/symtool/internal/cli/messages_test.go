package cli

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/symtool/symtool/internal/text"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"std::vector<größe>::f 日本": "std::vector<größe>::f 日本",
		"a\x1b[31mb":               `a\x1b[31mb`,
		"a\nb\tc\r":                `a\nb\tc\r`,
		"safe\u202egpj.exe":        `safe\u202egpj.exe`,
		"zero\u200bwidth\ufeff":    `zero\u200bwidth\ufeff`,
		"bad\xff\xc3":              `bad\xff\xc3`,
		"\ufffd stays":             "\ufffd stays",
		"csi\u009b2J":              `csi\u009b2J`,
		"\U000e0041":               `\U000e0041`,
		`back\slash`:               `back\slash`,
	} {
		if got := text.Printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMessageIsOneLine(t *testing.T) {
	var b bytes.Buffer
	NewMessages(&b).Printf("%s: bad", "a\nsymtool: all is well")
	if got, want := b.String(), `a\nsymtool: all is well: bad`+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTerminalWriter(t *testing.T) {
	var b bytes.Buffer
	w := &terminalWriter{w: &b}
	for _, part := range []string{"FUNC 1 2 0 a\x1b[3", "1m\nFUNC 3 4 0 \u202e", "b\n\nla", "st\a"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "FUNC 1 2 0 a\\x1b[31m\nFUNC 3 4 0 \\u202eb\n\nlast\\a"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEncodeJSON checks that the summary is printable in a terminal, and means the same.
func TestEncodeJSON(t *testing.T) {
	in := map[string]string{"name": "a<b>&\u202e\x1b\u009b\U000e0041 ö 日"}
	text, err := EncodeJSON(in)
	if err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"name\": \"a<b>&\\u202e\\u001b\\u009b\\udb40\\udc41 ö 日\"\n}\n"
	if string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var out map[string]string
	if err := json.Unmarshal(text, &out); err != nil || out["name"] != in["name"] {
		t.Errorf("%q, %v", out, err)
	}
}
