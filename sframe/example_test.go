package sframe_test

import (
	"debug/elf"
	"fmt"
	"log"

	"github.com/symtool/symtool/sframe"
)

// The row in force at an address gives the location of the CFA and of the return
// address.
func ExampleSection_Find() {
	file, err := elf.Open("../golden/input/walk-sources.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".sframe")
	data, err := section.Data()
	if err != nil {
		log.Fatal(err)
	}
	s, err := sframe.Decode(data, sframe.Options{Addr: section.Addr})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range s.Problems { // damaged parts; the rest is there
		fmt.Println(p)
	}
	fde, row, err := s.Find(0x4001be)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("function at 0x%x, row at +0x%x\n", s.FDEs[fde].Start, row.Start)
	fmt.Printf("CFA: register %d %+d; return address at CFA %+d\n", row.CFA.Reg, row.CFA.Offset, row.RA.Offset)
	// Output:
	// function at 0x4001b0, row at +0xa
	// CFA: register 6 +16; return address at CFA -8
}
