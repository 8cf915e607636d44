package symsframe_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// From STACK CFI to a .sframe section.
func ExampleFromCFI() {
	const text = `MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app
STACK CFI INIT 1000 24 .cfa: $rsp 8 + .ra: .cfa 8 - ^
STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa 16 - ^
`
	result, err := symfmt.Read(context.Background(), strings.NewReader(text), symfmt.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	funcs, problems := symsframe.FromCFI(&result.Module.CFI, sframe.AMD64, 0)
	for _, p := range problems {
		fmt.Println(p)
	}
	data, _, err := sframe.Encode(funcs, sframe.Target{Version: 2, ABI: sframe.AMD64})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(funcs), "function,", len(data), "bytes")
	// Output:
	// 1 function, 55 bytes
}
