package text

import (
	"encoding/json"
	"testing"
)

func TestEscapeJSON(t *testing.T) {
	for in, want := range map[string]string{
		"": "",
		"{\n\t\"plain\": \"\u00fc \u65e5 \U0001f600\"}": "{\n\t\"plain\": \"\u00fc \u65e5 \U0001f600\"}",
		"\"a\u202eb\"":                       `"a\u202eb"`,
		"\"\u2066\u2069\u200e\u200f\u061c\"": `"\u2066\u2069\u200e\u200f\u061c"`,
		"\"\x7f\u0085\u009b\u2028\"":         `"\u007f\u0085\u009b\u2028"`,
		"\"\U000e0041.\"":                    `"\udb40\udc41."`,
	} {
		got := string(EscapeJSON([]byte(in)))
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
		var a, b any
		if in != "" && (json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || !equalJSON(a, b)) {
			t.Errorf("%q: reads as %q, want %q", in, b, a)
		}
	}
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
