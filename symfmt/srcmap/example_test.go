package srcmap_test

import (
	"fmt"
	"log"

	"github.com/symtool/symtool/symfmt/srcmap"
)

// Names of source files that a web server understands.
func ExampleMapping_Map() {
	rule, err := srcmap.ParseRule(`^src/(?P<path>.*)=git:example.org/app:{path}:{rev}`, map[string]string{"rev": "v1.2"})
	if err != nil {
		log.Fatal(err)
	}
	mapping := &srcmap.Mapping{Rules: []srcmap.Rule{rule}}
	prefixes := []srcmap.Prefix{{Old: "/build/app-1.2", New: "src"}}
	for _, path := range []string{"/build/app-1.2/main.c", "/usr/include/stdio.h"} {
		fmt.Println(mapping.Map(prefixes, path, "").Name)
	}
	// Output:
	// git:example.org/app:main.c:v1.2
	// /usr/include/stdio.h
}
