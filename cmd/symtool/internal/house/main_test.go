package house

import (
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/apptest"
)

// TestMain lets the commands in documents run symtool by name.
func TestMain(m *testing.M) { apptest.Main(m) }
