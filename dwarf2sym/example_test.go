package dwarf2sym_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/symtool/symtool/dwarf2sym"
)

// The symbols of a file, with those of its separate debug file if it has one.
func ExampleReadFile() {
	result, err := dwarf2sym.ReadFile(context.Background(), "../golden/input/walk-sources.elf", dwarf2sym.Options{Demangle: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range result.Problems { // what was damaged; the rest is in the module
		fmt.Println(p)
	}
	m := result.Module
	fmt.Println(m.Arch, m.ID, m.Name)
	for _, f := range m.Funcs {
		fmt.Printf("%x %x %s\n", f.RVA, f.Size, f.Name)
	}
	// Output:
	// x86_64 17F473446FAE06D27ECE5A270227EC290 walk-sources.elf
	// 180 b main
	// 1b0 4d crash
	// 200 3a variable
	// 240 3d aligned
	// 280 14 many
	// 2a0 5f recurse
	// 300 16 called
	// 320 14 each
}

// A file that is open already, or in memory.
func ExampleRead() {
	image, err := os.ReadFile("../golden/input/walk-sources.elf")
	if err != nil {
		log.Fatal(err)
	}
	file, err := dwarf2sym.NewBinary(bytes.NewReader(image), int64(len(image)), "walk-sources.elf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	result, err := dwarf2sym.Read(context.Background(), file, dwarf2sym.Options{NoCFI: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.ID() == result.Module.ID, file.HasDWARF(), result.Stats.Funcs, result.Stats.CFIBlocks)
	// Output:
	// true true 8 0
}
