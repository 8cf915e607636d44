package coroutine_test

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/coroutine"
	"github.com/symtool/symtool/walk/dump"
)

// This example finds the frame of a coroutine in memory by the two functions whose addresses it begins with.
func Example() {
	functions := map[uint64]string{0x401000: "read_all(int) [clone .resume]", 0x401100: "read_all(int) [clone .destroy]"}
	memory := make([]byte, 64)
	binary.LittleEndian.PutUint64(memory[16:], 0x401000)
	binary.LittleEndian.PutUint64(memory[24:], 0x401100)
	d := &dump.Dump{
		Arch:    arch.X86_64,
		Modules: []dump.Module{{Range: dump.Range{Addr: 0x400000, Size: 0x2000}}},
		Memory:  dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x10000, Data: memory}}),
	}
	for _, f := range coroutine.Scan(d, func(addr uint64) (coroutine.Role, coroutine.Function) {
		role, of := coroutine.RoleOf(functions[addr])
		return role, coroutine.Function{Of: of}
	}) {
		fmt.Printf("coroutine at %#x, finished: %v\n", f.Addr, f.Finished())
	}
	// Output:
	// coroutine at 0x10010, finished: false
}
