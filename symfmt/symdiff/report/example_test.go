package report_test

import (
	"context"
	"log"
	"os"
	"strings"

	"github.com/symtool/symtool/symfmt/symdiff"
	"github.com/symtool/symtool/symfmt/symdiff/report"
)

// What changed in another build, and what it lost.
func ExampleWrite() {
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
	if err := report.Write(os.Stdout, "text", result, report.Options{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// --- old.sym  (Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app)
	// +++ new.sym  (Linux x86_64 4473F417AE6FD2067ECE5A270227EC290 app)
	//            before  now  same  added  removed  renamed  moved  resized  worse
	// functions       2    2     1      0        0        0      1        0      1
	// in functions                       before      now  functions that differ
	// bytes with lines                    100 %  69.23 %  1
	// inlined calls                           0        0  0
	// bytes with call frame information     0 %      0 %  0
	// MODULE id: 17F473446FAE06D27ECE5A270227EC290 -> 4473F417AE6FD2067ECE5A270227EC290
	// worse than before:
	//   a smaller share of the code has lines: 100 % before, 69.23 % now
	//   1 of 2 functions have more code without lines
	//     ~  0x1040  0x10  leaf: moved by +0x10; lines differ; lines for 0x0 of 0x10 bytes, was 0x10 of 0x10
}
