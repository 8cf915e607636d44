package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// Frames whose rules were derived from instructions are distinguished in each output. A document has the thread that
// crashed twice.
func TestDerivedRules(t *testing.T) {
	s := walks.BinarySources(t, walktest.NewProgram(t).BareBinary())
	r := walks.Dump(t, testenv.Input(t, "walk-sources.core.gz"), s, walk.Config{Trace: true})
	callers := len(r.Stacks[0].Frames) - 1
	doc, err := json.Marshal(NewDocument(r, DocumentOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	page := pageOf(t, r, HTMLOptions{})
	code := fmt.Sprintf(`["code","%s"]],`, textByCode)
	for _, c := range []struct {
		output, text, want string
		n                  int
	}{
		{"text", textOf(t, r, TextOptions{}), "Found by: " + textByCode + "\n", callers},
		{"JSON", string(doc), `"technique":"code"`, 2 * callers},
		{"JSON", string(doc), `"trust":"cfi"`, 2 * callers},
		{"trace", strings.Join(r.Stacks[0].Trace, "\n") + "\n", " by code\n", callers},
		{"page", page, code, 1},
		{"page", page, fmt.Sprintf("[%d,0,", walk.TrustContext+1), callers},
	} {
		if n := strings.Count(c.text, c.want); n != c.n || callers < 10 {
			t.Errorf("%s: %q is there %d times, want %d", c.output, c.want, n, c.n)
		}
	}
}
