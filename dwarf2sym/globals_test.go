package dwarf2sym

import (
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/vars"
)

// Variables outside functions have their types and addresses. Variables with other names are
// not returned.
func TestReadGlobals(t *testing.T) {
	for _, tt := range []struct {
		file string
		sink uint64
	}{{"calls-x86_64.elf", 0x35c8}, {"calls-aarch64.elf", 0x3580}} {
		f, err := objfile.Open(testenv.Input(t, "crashes", tt.file), object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, problems, err := ReadGlobals(t.Context(), f, []string{"sink", "walk"}, Options{})
		if err != nil || len(problems) > 0 || info == nil {
			t.Fatalf("%s: %v, problems %v, error %v", tt.file, info, problems, err)
		}
		scopes := info.At(0, nil)
		if len(scopes) != 1 || len(scopes[0].Vars) != 1 {
			t.Fatalf("%s: scopes %v, want one with sink alone", tt.file, scopes)
		}
		v := scopes[0].Vars[0]
		typ, _ := info.Plain(info.Vars[v.Var].Type)
		ops := info.Exprs[v.Expr].Ops()
		if info.Vars[v.Var].Name != "sink" || typ.Kind != vars.Base || len(ops) != 1 || ops[0].Code != vars.OpAddr || ops[0].U != tt.sink {
			t.Errorf("%s: %+v of type %+v at %+v", tt.file, info.Vars[v.Var], typ, ops)
		}
		if info, _, err := ReadGlobals(t.Context(), f, []string{"main", "runtime.allgs"}, Options{}); info != nil || err != nil {
			t.Errorf("%s: variables of names that it does not have: %v, error %v", tt.file, info, err)
		}
	}
}
