package arch_test

import (
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
)

// This example converts a number of a register in DWARF to the name that STACK CFI has for it.
func ExampleByName() {
	a := arch.ByName("arm64")
	name, ok := a.RegName(29)
	fmt.Println(name, ok, a.PtrSize)
	fmt.Println(arch.ByName("vax"))
	// Output:
	// x29 true 8
	// <nil>
}
