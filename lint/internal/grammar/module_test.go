package grammar

import (
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// The other CPUs are those that package arch does not have.
func TestOtherCPUs(t *testing.T) {
	for name := range otherCPUs {
		if arch.ByName(name) != nil {
			t.Errorf("package arch has %s: remove it from otherCPUs", name)
		}
	}
}
