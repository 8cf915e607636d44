package symfmt_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// One record after another, in memory that does not depend on the size of the file.
func ExampleReader() {
	const text = `MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 app
FILE 0 /src/app.c
FUNC 1000 24 0 main
1000 10 7 0
1010 14 8 0
FUNC 1030 5f 0 recurse
1030 5f 12 0
`
	r := symfmt.NewReader(strings.NewReader(text), symfmt.ReadOptions{File: "app.sym", Tolerant: true})
	var name string
	var size uint64
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		if rec.Kind == symfmt.KindFunc && rec.Size > size {
			name, size = string(rec.Name), rec.Size // Name is valid until the next record
		}
	}
	fmt.Printf("%s has 0x%x bytes; %d bad records\n", name, size, len(r.Report().Problems))
	// Output:
	// recurse has 0x5f bytes; 0 bad records
}

// A program writes its own symbol file.
func ExampleWrite() {
	m := &symfmt.Module{OS: "Linux", Arch: "x86_64", ID: "17F473446FAE06D27ECE5A270227EC290", Name: "jit"}
	m.Publics = append(m.Publics, symfmt.Public{RVA: 0x1000, Name: "stub"})
	if err := symfmt.Write(os.Stdout, m, symfmt.WriteOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// MODULE Linux x86_64 17F473446FAE06D27ECE5A270227EC290 jit
	// PUBLIC 1000 0 stub
}
