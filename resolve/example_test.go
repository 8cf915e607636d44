package resolve_test

import (
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// Addresses in a symbol file, which is mapped and indexed, and read only where needed.
func ExampleOpen() {
	r, err := resolve.Open(context.Background(), "../golden/input/crashes/win.sym", resolve.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	var at resolve.Location // reused for each address: nothing is allocated
	for _, rva := range []symfmt.RVA{0x1010, 0x6004, 0x100} {
		found, err := r.Find(rva, &at)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%x: %v\n", rva, found)
		for _, f := range at.Frames {
			fmt.Printf("  %s %s:%d\n", f.Function, f.File, f.Line)
		}
	}
	// Output:
	// 1010: true
	//   main c:\src\app.c:10
	// 6004: true
	//   behind :0
	// 100: false
}

// Addresses in a module in memory, here one of a binary.
func ExampleFromModule() {
	result, err := dwarf2sym.ReadFile(context.Background(), "../golden/input/walk-sources.elf", dwarf2sym.Options{Demangle: true})
	if err != nil {
		log.Fatal(err)
	}
	r := resolve.FromModule(result.Module, resolve.ModuleOptions{Extents: &result.Extents})
	var at resolve.Location
	if _, err := r.Find(0x1be, &at); err != nil {
		log.Fatal(err)
	}
	for _, f := range at.Frames {
		fmt.Printf("%s %s:%d inlined=%v\n", f.Function, f.File, f.Line, f.Inlined)
	}
	// Output:
	// inner /src/walk_sources.c:9 inlined=true
	// middle /src/walk_sources.c:13 inlined=true
	// crash /src/walk_sources.c:20 inlined=false
}
