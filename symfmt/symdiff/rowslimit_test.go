package symdiff

import (
	"fmt"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Rules beyond the limit cost nothing: they are neither compared nor kept.
func TestRulesBeyondTheLimit(t *testing.T) {
	r := newRows(arch.X86_64, 0)
	row := r.apply(0, []byte(".cfa: $rsp 8 + .ra: .cfa 8 - ^"))
	for i := 0; !r.full; i++ {
		row = r.apply(row, fmt.Appendf(nil, "$q%d: .cfa", i))
	}
	kept, transitions := len(r.rows), len(r.next)
	for i := range 1000 {
		if row = r.apply(row, fmt.Appendf(nil, "$p%d: .cfa", i)); !r.rows[row].broken {
			t.Fatalf("row %d is kept", i)
		}
	}
	if len(r.rows) > kept+1 || len(r.next) != transitions {
		t.Errorf("%d rows and %d transitions, want no more than %d and %d", len(r.rows), len(r.next), kept, transitions)
	}
}
