package resolve_test

import (
	"context"
	"fmt"
	"log"
	"sort"
	"strconv"
	"strings"

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
		found, err := resolve.Find(r, rva, &at)
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

// perfMap is the map of code that a JIT compiler writes for perf, as Symbols: names are all that it has.
type perfMap struct {
	resolve.NamesOnly
	code []perfCode // in order of address
}

type perfCode struct {
	start, size uint64
	name        string
}

// Nearest implements resolve.Symbols.
func (p *perfMap) Nearest(rva symfmt.RVA, at *resolve.Location) (bool, error) {
	*at = resolve.Location{Frames: at.Frames[:0]}
	i := sort.Search(len(p.code), func(i int) bool { return p.code[i].start > uint64(rva) }) - 1
	if i < 0 || uint64(rva)-p.code[i].start >= p.code[i].size {
		return false, nil
	}
	c := &p.code[i]
	at.Source, at.Start, at.Offset, at.Size = resolve.Func, symfmt.RVA(c.start), uint64(rva)-c.start, c.size
	at.Frames = append(at.Frames, resolve.Frame{Function: c.name})
	return true, nil
}

// Names from a source of your own: one method is left to write.
func ExampleNamesOnly() {
	p := &perfMap{NamesOnly: resolve.NamesOnly{Module: resolve.Identity{Name: "perf-4711.map"}}}
	for line := range strings.Lines("7f0000001000 40 LazyCompile:~parse app.js:3\n7f0000001080 20 Builtin:Add\n") {
		var c perfCode
		start, rest, _ := strings.Cut(line, " ")
		size, name, _ := strings.Cut(strings.TrimSpace(rest), " ")
		c.start, _ = strconv.ParseUint(start, 16, 64)
		c.size, _ = strconv.ParseUint(size, 16, 64)
		c.name = name
		p.code = append(p.code, c)
	}
	var symbols resolve.Symbols = p
	defer symbols.Close()
	var at resolve.Location
	for _, pc := range []symfmt.RVA{0x7f0000001004, 0x7f0000001060, 0x7f0000001088} {
		if found, err := resolve.Find(symbols, pc, &at); !found || err != nil {
			fmt.Printf("%x: unknown\n", pc)
			continue
		}
		fmt.Printf("%x: %s + %#x\n", pc, at.Frames[0].Function, at.Offset)
	}
	// Output:
	// 7f0000001004: LazyCompile:~parse app.js:3 + 0x4
	// 7f0000001060: unknown
	// 7f0000001088: Builtin:Add + 0x8
}
