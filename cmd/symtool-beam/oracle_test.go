package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOracleCorpus walks many dumps, whole and damaged ones. It compares the lines with
// those of the command, and the tables with the counts of a Python program.
// SYMTOOL_BEAM_CORPUS is a folder in which to keep the dumps.
func TestOracleCorpus(t *testing.T) {
	full := oracle(t)
	python := tool(t, "python3")
	n := 200
	if full {
		n = 2000
	}
	dir := os.Getenv("SYMTOOL_BEAM_CORPUS")
	if dir == "" {
		dir = t.TempDir()
	}
	dumps := filepath.Join(dir, "dumps")
	makeCorpus(t, dumps, n)
	symbols := corpusSymbols(t, dir)
	names, err := filesIn(dumps)
	if err != nil || len(names) != n {
		t.Fatalf("%d dumps: %v", len(names), err)
	}
	slices.Sort(names)
	var args []string
	for _, s := range symbols {
		args = append(args, "--symbols", s)
	}
	want := walkLines(t, args, names)
	write(t, filepath.Join(dir, "want.jsonl"), string(want))

	out, _ := beamWalk(t, flags{config: Config{Symbols: symbols, Jobs: 2}, shardSize: 16, memory: 1}, statusInput, dumps)
	got := lines(t, out)
	if !bytes.Equal(got, want) {
		t.Fatalf("the lines differ from symtool's: %s", firstDifference(string(got), string(want)))
	}
	count := exec.Command(python, "testdata/tables.py")
	count.Stdin, count.Stderr = bytes.NewReader(want), os.Stderr
	table, err := count.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours := read(t, filepath.Join(out, "modules.csv")) + read(t, filepath.Join(out, summaryFile))
	if ours != string(table) {
		t.Errorf("the tables differ from those of the program in Python: %s", firstDifference(ours, string(table)))
	}
	t.Logf("%d bytes of lines; %s", len(got), read(t, filepath.Join(out, summaryFile)))
	for _, field := range []string{`"damaged":0,`, `"failed":0,`, `"cfi":0,`, `"frame_pointer":0,`, `"scan":0,`} {
		if strings.Contains(read(t, filepath.Join(out, summaryFile)), field) {
			t.Errorf("the corpus is not what it was: %s", field)
		}
	}
}
