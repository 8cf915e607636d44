package goroutine_test

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/goroutine"
)

// This example finds the goroutines of a dump by means of the runtime's variables, which dwarf2sym.ReadGlobals reads
// from the program.
func Example() {
	fmt.Println(goroutine.Globals())

	d := &dump.Dump{Arch: arch.X86_64, Memory: dump.NewMemory(binary.LittleEndian, nil)}
	globals := &eval.Frame{Arch: d.Arch, Order: d.Memory.Order, Memory: &d.Memory, Info: &vars.Info{}} // of a program in C
	_, err := goroutine.Read(d, globals)
	fmt.Println(err)

	g := goroutine.Goroutine{ID: 18, Status: goroutine.Waiting, Wait: "chan receive"}
	fmt.Printf("goroutine %d [%s]\n", g.ID, g.State())
	// Output:
	// [runtime.allgs runtime.allm runtime.waitReasonStrings]
	// the debug information has no variable runtime.allgs
	// goroutine 18 [chan receive]
}
