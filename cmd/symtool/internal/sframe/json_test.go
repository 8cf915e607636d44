package sframe

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// TestSFrameJSONIsDocumented checks that docs/json.md documents every field that sframe
// --format json prints. Some fields are the same as dump's.
func TestSFrameJSONIsDocumented(t *testing.T) {
	fields := append(testenv.JSONFields(t, sframeHead{}), testenv.JSONFields(t, sframeCheck{})...)
	var comparison strings.Builder
	if err := (&symsframe.Comparison{}).WriteJSON(&comparison); err != nil {
		t.Fatal(err)
	}
	texts := []string{comparison.String()}
	for _, name := range []string{"sframe-text-v3.json", "sframe-text-damaged.json"} {
		text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "sframe", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		for _, m := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
			fields = append(fields, m[1])
		}
	}
	slices.Sort(fields)
	testenv.DocumentedJSON(t, slices.Compact(fields), "sframe", "dump")
}
