package gsym_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
)

// A GSYM file, written and read again.
func Example() {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "17F473446FAE06D27ECE5A270227EC290", Name: "app"}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0x1000, Size: 0x24, Name: "main"})
	m.Infos = append(m.Infos, symfmt.Info{Key: "GENERATOR", Value: "example"})
	for _, loss := range gsym.Losses(m, gsym.Options{}) { // what the format cannot hold
		fmt.Println(loss)
	}
	var file bytes.Buffer
	if err := gsym.Write(&file, m, gsym.Options{}); err != nil {
		log.Fatal(err)
	}
	back, err := gsym.Read(context.Background(), bytes.NewReader(file.Bytes()), int64(file.Len()), gsym.ReadOptions{File: "app.gsym"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(back.Module.Funcs[0].Name, len(back.Problems))
	// Output:
	// 1 MODULE record (GSYM records only the id)
	// 1 INFO record (GSYM has no place for them)
	// main 0
}
