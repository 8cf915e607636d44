package symjson_test

import (
	"log"
	"os"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symjson"
)

// A module as JSON Lines, a record a line.
func ExampleWrite() {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "17F473446FAE06D27ECE5A270227EC290", Name: "app"}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x1000, Size: 0x24, Name: "main"})
	if err := symjson.Write(os.Stdout, m, symjson.Options{Lines: true}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"kind":"module","format":"symtool-symbols","version":1,"os":"Linux","arch":"x86_64","id":"17F473446FAE06D27ECE5A270227EC290","name":"app"}
	// {"kind":"func","rva":4096,"size":36,"param_size":0,"multiple":false,"name":"main","inlines":[],"lines":[]}
}
