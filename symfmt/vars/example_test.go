package vars_test

import (
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// The variables at an address, with their types and where they are. symfmt.ReadVars reads the records
// from a file.
func Example() {
	const records = `INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T p1#8
INFO VAR E cfa f:-18 r:5
INFO VAR V p1:n l2:at
INFO VAR G 1,2
INFO VAR F 1000 40 1/8j8 1h3h2-
`
	var parser vars.Parser
	for line := range strings.Lines(records) {
		parser.Add([]byte(strings.TrimSpace(line[len(vars.Prefix):])), 0)
	}
	info, err := parser.Finish(func(e *vars.BadRecord) error { return errors.New(e.Msg) })
	if err != nil {
		log.Fatal(err)
	}
	for _, rva := range []vars.RVA{0x1004, 0x1020} {
		for _, v := range info.At(rva, nil)[0].Vars {
			x := &info.Vars[v.Var]
			fmt.Printf("%x: %s %s is in %q\n", rva, info.TypeName(x.Type), x.Name, info.Exprs[v.Expr])
		}
	}
	// Output:
	// 1004: int n is in "r:5"
	// 1004: int * at is in ""
	// 1020: int n is in "f:-18"
	// 1020: int * at is in ""
}
