package eval_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// This example is a debugger that has the registers and the memory of a stopped thread, and the
// records of variables.
func Example() {
	// symfmt.ReadVars reads the records from a file.
	const records = `INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T s#8 "point .1:x .1@4:y
INFO VAR E cfa f:-18 r:5
INFO VAR V p1:n l2:at
INFO VAR G 1,2
INFO VAR F 1000 40 1 1=3=2
`
	var parser vars.Parser
	for line := range strings.Lines(records) {
		parser.Add([]byte(strings.TrimSpace(line[len(vars.Prefix):])), 0)
	}
	info, err := parser.Finish(func(e *vars.BadRecord) error { return errors.New(e.Msg) })
	if err != nil {
		log.Fatal(err)
	}
	const base, pc, sp = 0x400000, 0x401010, 0x7ffe0000
	stack := make([]byte, 64)
	binary.LittleEndian.PutUint32(stack[0x18:], 3)
	binary.LittleEndian.PutUint32(stack[0x1c:], 4)
	memory := dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: sp, Data: stack}})
	registers := map[string]uint64{"$rdi": 7, "$rsp": sp}
	frame := &eval.Frame{
		Arch: arch.X86_64, Order: binary.LittleEndian, Memory: &memory, Info: info, Base: base,
		Func: info.Func(pc - base), Scopes: info.At(pc-base, nil),
		Register: func(i int) ([]byte, bool) {
			value, ok := registers[arch.X86_64.Regs[i].Name]
			return binary.LittleEndian.AppendUint64(nil, value), ok
		},
		CFA:    func() (uint64, bool) { return sp + 0x30, true }, // as STACK CFI says
		TLS:    func(uint64) (uint64, string) { return 0, "there is no thread-local storage" },
		Caller: func() (*eval.Frame, vars.CallSite, error) { return nil, vars.CallSite{}, eval.ErrNoCallSite },
	}
	for _, v := range frame.Depth(0) {
		fmt.Println(info.TypeName(v.Type), v.Name, v.Status(), v.Hex())
		if t, _ := info.Plain(v.Type); t.Kind == vars.Struct {
			for i := range t.Members {
				m, _ := frame.Member(&v.Value, &t.Members[i])
				fmt.Printf("  %s at %#x: %s\n", t.Members[i].Name, m.Address, m.Hex())
			}
		}
	}
	// Output:
	// int n value 07000000
	// point at value 0300000004000000
	//   x at 0x7ffe0018: 03000000
	//   y at 0x7ffe001c: 04000000
}
