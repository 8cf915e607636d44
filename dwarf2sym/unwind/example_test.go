package unwind_test

import (
	"context"
	"debug/elf"
	"fmt"
	"log"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/symfmt/arch"
)

// The rows of a file's .eh_frame.
func ExampleRead() {
	file, err := elf.Open("../../golden/input/gcc-dwarf5.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	section := file.Section(".eh_frame")
	data, err := section.Data()
	if err != nil {
		log.Fatal(err)
	}
	result, err := unwind.Read(context.Background(), &unwind.Input{
		Arch: arch.ByELF(file.Machine, file.Class), Order: file.ByteOrder, PtrSize: 8,
		Sections: []unwind.Section{{Name: section.Name, Addr: section.Addr, Data: data, EH: true}},
	})
	if err != nil {
		log.Fatal(err)
	}
	table := result.CFI
	fmt.Println(result.Stats.FDEs, len(result.Problems))
	block := table.Blocks[0]
	fmt.Printf("%x %x %s\n", block.RVA, block.Size, table.Rules.Text(block.Init))
	// Output:
	// 7 0
	// 320 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^
}
