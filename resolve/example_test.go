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
		found, err := resolve.Find(context.Background(), r, rva, &at)
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
	if _, err := r.Find(context.Background(), 0x1be, &at); err != nil {
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

// kernelNames are the names of /proc/kallsyms as Symbols: names are all that it has.
type kernelNames struct {
	resolve.NamesOnly
	starts []uint64 // in order
	names  []string
}

// Nearest implements resolve.Symbols. How far a name extends is a guess.
func (k *kernelNames) Nearest(_ context.Context, rva symfmt.RVA, at *resolve.Location) (bool, error) {
	*at = resolve.Location{Frames: at.Frames[:0]}
	i := sort.Search(len(k.starts), func(i int) bool { return k.starts[i] > uint64(rva) }) - 1
	if i < 0 {
		return false, nil
	}
	at.Source, at.Start, at.Offset = resolve.Public, symfmt.RVA(k.starts[i]), uint64(rva)-k.starts[i]
	at.Guess = at.Offset >= 4096
	at.Frames = append(at.Frames, resolve.Frame{Function: k.names[i]})
	return true, nil
}

// Names from a source of your own: one method is left to write.
func ExampleNamesOnly() {
	k := &kernelNames{NamesOnly: resolve.NamesOnly{Module: resolve.Identity{Name: "vmlinux"}}}
	for line := range strings.Lines("ffffffff81000000 T _stext\nffffffff81000040 T do_one_initcall\n") {
		field := strings.Fields(line)
		start, err := strconv.ParseUint(field[0], 16, 64)
		if err != nil {
			log.Fatal(err)
		}
		k.starts, k.names = append(k.starts, start), append(k.names, field[2])
	}
	var symbols resolve.Symbols = k
	defer symbols.Close()
	var at resolve.Location
	for _, pc := range []symfmt.RVA{0xffffffff81000004, 0xffffffff81000058, 0xffffffffa0000000} {
		found, err := resolve.Find(context.Background(), symbols, pc, &at)
		if err != nil {
			log.Fatal(err)
		}
		if !found {
			fmt.Printf("%x: unknown\n", pc)
			continue
		}
		fmt.Printf("%x: %s + %#x\n", pc, at.Frames[0].Function, at.Offset)
	}
	// Output:
	// ffffffff81000004: _stext + 0x4
	// ffffffff81000058: do_one_initcall + 0x18
	// ffffffffa0000000: unknown
}
