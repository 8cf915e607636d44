package lint_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/finding"
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

// This example adds a rule of a program's own: the functions of its namespace must have lines.
func ExampleRun_ownRule() {
	const text = `MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app
FILE 0 /src/app.cc
FUNC 1000 24 0 app::run(int)
1000 24 7 0
FUNC 1030 10 0 app::stop()
FUNC 1040 10 0 memcpy
`
	rule := &finding.Rule{
		ID: "APP301", Title: "function of ours without lines", Severity: finding.Error,
		On: []symfmt.Kind{symfmt.KindFunc},
		Check: func(p *finding.Pass) (func(*symfmt.Record), func()) {
			ours := map[int]string{} // by line of the file
			record := func(r *symfmt.Record) {
				if bytes.HasPrefix(r.Name, []byte("app::")) {
					ours[r.Pos().Line] = string(r.Name)
				}
			}
			end := func() {
				for f := range p.Functions() {
					if name, ok := ours[f.Line]; ok && f.Lines == 0 {
						p.ReportAt(f.Line, f.RVA, "%s has no lines: build it with -g", name)
					}
				}
			}
			return record, end
		},
	}
	options := lint.Options{File: "app.sym", Rules: append(lint.Rules(), rule)}
	report, err := lint.Run(context.Background(), symfmt.TextRecords(strings.NewReader(text)), options)
	if err != nil {
		log.Fatal(err)
	}
	for i := range report.Findings {
		fmt.Println(&report.Findings[i])
	}
	// Output:
	// app.sym: SYM701 warning: no STACK CFI or STACK WIN record
	// app.sym:5: APP301 error: app::stop() has no lines: build it with -g
}
