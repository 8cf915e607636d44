package symdiff_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/symfmt/symdiff"
)

// What changed in another build, and what it lost.
func ExampleCompare() {
	const before = `MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app
FILE 0 /src/app.c
FUNC 1000 24 0 main
1000 24 7 0
FUNC 1030 10 0 leaf
1030 10 12 0
`
	const after = `MODULE Linux x86_64 4473F417AE6FD2067ECE5A270227EC290 app
FILE 0 /src/app.c
FUNC 1000 24 0 main
1000 24 7 0
FUNC 1040 10 0 leaf
`
	old := symdiff.NewSource(strings.NewReader(before), int64(len(before)), "old.sym")
	now := symdiff.NewSource(strings.NewReader(after), int64(len(after)), "new.sym")
	result, err := symdiff.Compare(context.Background(), old, now, symdiff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer result.Close()
	fmt.Println("worse:", result.Regressions())
	for _, c := range result.Changes {
		names, err := result.Details().Names(c)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s: %s\n", c.Kind, names.New.Name, c.What)
	}
	// Output:
	// worse: 2
	// function leaf: moved lines lost-lines
}
