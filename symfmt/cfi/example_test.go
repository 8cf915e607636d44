package cfi_test

import (
	"fmt"
	"log"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// stack is the memory of a process, by address.
type stack map[uint64]uint64

func (s stack) ReadWord(addr uint64) (uint64, bool) {
	v, ok := s[addr]
	return v, ok
}

// From a frame to its caller.
func ExampleRow_Caller() {
	names := cfi.NewNames(arch.ByName("x86_64"))
	var row cfi.Row
	for _, text := range []string{".cfa: $rsp 8 + .ra: .cfa 8 - ^", ".cfa: $rsp 16 + $rbp: .cfa 16 - ^"} { // STACK CFI INIT, STACK CFI
		rules, err := names.ParseRules(text)
		if err != nil {
			log.Fatal(err)
		}
		row.Apply(rules)
	}
	callee, caller := names.NewRegs(), names.NewRegs()
	callee.Set(names.Lookup("$rsp"), 0x7000)
	if err := row.Caller(callee, stack{0x7000: 0x7100, 0x7008: 0x401136}, caller); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"$rip", "$rsp", "$rbp"} {
		v, _ := caller.Get(names.Lookup(name))
		fmt.Printf("%s %x\n", name, v)
	}
	// Output:
	// $rip 401136
	// $rsp 7010
	// $rbp 7100
}
