package symbolizer

import (
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// LLVM answers no line of a row whose file is not in the line table, but the line of a call from such a file.
func TestLineWithoutFile(t *testing.T) {
	p := &jsonPrinter{s: &Symbolizer{}}
	got := p.frames([]symfmt.SourceFrame{{Line: 7, Column: 3}, {Line: 8}})
	if got[0].Line != 0 || got[0].Column != 0 || got[1].Line != 8 {
		t.Errorf("%+v", got)
	}
}
