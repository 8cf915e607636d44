package source_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/walk/source"
)

// This example shows the lines around a line of a program whose sources were moved after it was built.
func ExampleFinder_Find() {
	finder := &source.Finder{Roots: []source.Root{{Old: "/src", New: "testdata/moved"}}}
	text, err := finder.Find(context.Background(), source.File{Name: "/src/add.c"})
	if err != nil {
		log.Fatal(err)
	}
	lines, err := text.Around(3, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range lines {
		fmt.Printf("%d: %s\n", l.Number, l.Text)
	}
	// Output:
	// 2: {
	// 3: 	return a + b;
	// 4: }
}
