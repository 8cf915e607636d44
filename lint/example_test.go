package lint_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/symfmt"
)

// This example lists the findings in a symbol file, and shows how much of the code it covers.
func ExampleRun() {
	const text = `MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app
FILE 0 /src/app.c
FUNC 1000 24 0 main
1000 24 7 1
STACK CFI INIT 1000 24 .cfa: $rsp 8 + .ra: .cfa 8 - ^
`
	report, err := lint.Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), lint.Options{File: "app.sym", MinCFI: 95})
	if err != nil {
		log.Fatal(err)
	}
	for i := range report.Findings {
		fmt.Println(&report.Findings[i])
	}
	fmt.Println(report.Coverage.Verdict, report.Coverage.All)
	// Output:
	// app.sym: SYM208 note: 1 of 1 FILE record are unused, the first is 0
	// app.sym:4:11: SYM203 error: file 1 is not declared
	// good for unwinding 100 %
}
