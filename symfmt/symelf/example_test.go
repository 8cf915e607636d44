package symelf_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"log"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symelf"
)

// An ELF file for debuggers and profilers, with the symbols of a module.
func ExampleWrite() {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "17F473446FAE06D27ECE5A270227EC290", Name: "app"}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x1000, Size: 0x24, Name: "main"})
	var file bytes.Buffer
	if err := symelf.Write(&file, m, symelf.Options{}); err != nil {
		log.Fatal(err)
	}
	read, err := elf.NewFile(bytes.NewReader(file.Bytes()))
	if err != nil {
		log.Fatal(err)
	}
	symbols, err := read.Symbols()
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			fmt.Printf("%x %x %s\n", s.Value, s.Size, s.Name)
		}
	}
	// Output:
	// 1000 24 main
}
