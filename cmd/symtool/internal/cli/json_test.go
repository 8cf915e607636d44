package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/text"
)

// TestJSONList checks that a list whose elements are made as they are printed prints like a
// slice, and is omitted if it is empty.
func TestJSONList(t *testing.T) {
	type element struct {
		Name string `json:"name"`
		Size int    `json:"size,omitempty"`
	}
	elements := []element{{"a\u202e<b>", 1}, {"", 0}}
	for n := range 3 {
		want, err := EncodeJSON(struct {
			List []element `json:"list,omitempty"`
			Last int       `json:"last"`
		}{elements[:n], n})
		if err != nil {
			t.Fatal(err)
		}
		got, err := EncodeJSON(struct {
			List *JSONList[element] `json:"list,omitempty"`
			Last int                `json:"last"`
		}{NewJSONList(n, func(i int) element { return elements[i] }), n})
		if err != nil || string(got) != string(want) {
			t.Errorf("%d elements, error %v:\n%swant\n%s", n, err, got, want)
		}
	}
}

// TestPrintJSONEscapes checks that characters that are unprintable or invisible in a terminal
// are escaped in JSON as elsewhere, even if a document is written in pieces.
func TestPrintJSONEscapes(t *testing.T) {
	unseen := "\u202e\u2066\u2028\u3164\u115f\ufe0f\ufeff\u0085\x7f\U000e0041"
	name := strings.Repeat("ä", escapedPiece/2-1) + unseen + strings.Repeat("日本\u202e", escapedPiece)
	data, err := EncodeJSON(map[string]string{"name": name})
	if err != nil {
		t.Fatal(err)
	}
	if again := text.EscapeJSON(data); string(again) != string(data) {
		t.Errorf("%d bytes, want %d", len(data), len(again))
	}
	if i := strings.IndexAny(string(data), unseen); i >= 0 {
		t.Errorf("byte %d is %q", i, data[i:i+4])
	}
	var got map[string]string
	if err := json.Unmarshal(data, &got); err != nil || got["name"] != name {
		t.Errorf("read again: error %v, the same name: %v", err, got["name"] == name)
	}
}
