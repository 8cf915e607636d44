package vars

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// docs/variables.md, from which others write readers, lists each operation with its operands, and
// each kind of type.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/variables.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	_, plain, _ := strings.Cut(doc, "Without operands, and as in DWARF: `")
	plain, _, _ = strings.Cut(plain, "`")
	operands := []struct {
		has  uint8
		text string
	}{{hasReg, ":r"}, {hasU, ":n"}, {hasS, ":s"}, {hasTo, ":op"}, {hasType, ":t"}, {hasLabel, ":label"}, {hasExpr, ":x"}, {hasData, ":bytes"}}
	for code, word := range opNames {
		form := word
		for _, o := range operands {
			if parts[code]&o.has != 0 {
				form += o.text
			}
		}
		if OpCode(code) == OpEntryValue {
			form = word + "(...)"
		}
		if !strings.Contains(doc, "`"+form+"`") && !slices.Contains(strings.Fields(plain), form) {
			t.Errorf("no `%s`", form)
		}
	}
	for _, letter := range typeLetters {
		if !strings.Contains(doc, "`"+string(letter)+"` ") {
			t.Errorf("no letter `%c` of a type", letter)
		}
	}
}
