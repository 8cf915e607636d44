package pdb_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/symtool/symtool/symfmt/pdb"
)

// The functions of a PDB.
func Example() {
	f, err := os.Open("../../golden/input/pdb-x64.pdb.gz")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		log.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		log.Fatal(err)
	}
	result, err := pdb.Read(context.Background(), bytes.NewReader(data), int64(len(data)), pdb.Options{File: "app.pdb"})
	if err != nil {
		log.Fatal(err)
	}
	m := result.Module
	fmt.Println(m.OS, m.Arch, m.Funcs[0].Name)
	// Output:
	// windows x86_64 units::operator->*(units::Length&, int)
}
