package show_test

import (
	"encoding/binary"
	"fmt"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
	"github.com/symtool/symtool/walk/show"
)

// This example shows a value as text, without passwords.
func ExamplePrinter_Text() {
	info := &vars.Info{Types: []vars.Type{
		1: {Kind: vars.Base, Name: "int", Size: 4, HasSize: true, Encoding: vars.Signed},
		2: {Kind: vars.Struct, Name: "login", Size: 8, HasSize: true, Members: []vars.Member{
			{Name: "user", Type: 1}, {Name: "password", Type: 1, Offset: 4},
		}},
	}}
	memory := dump.NewMemory(binary.LittleEndian, nil)
	frame := &eval.Frame{Arch: arch.X86_64, Memory: &memory, Info: info}
	v := &eval.Variable{
		Variable: &vars.Variable{Name: "l", Type: 2},
		Value:    eval.Value{Bytes: []byte{7, 0, 0, 0, 42, 0, 0, 0}},
	}
	fmt.Println(show.New(show.Options{Redact: []string{"pass*"}}).Text(frame, v))
	// Output:
	// {user = 7, password = <redacted>}
}
