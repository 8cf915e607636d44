package symbolizer

import (
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// TestLineWithoutFile checks that, as in LLVM, a row whose file is not in the line table has no line, but a
// call from such a file does.
func TestLineWithoutFile(t *testing.T) {
	p := &jsonPrinter{s: &Symbolizer{}}
	got := p.frames([]symfmt.SourceFrame{{Line: 7, Column: 3}, {Line: 8}})
	if got[0].Line != 0 || got[0].Column != 0 || got[1].Line != 8 {
		t.Errorf("%+v", got)
	}
}
