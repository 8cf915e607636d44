package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// original is a dump from which others are made, in its own format and converted to the other one.
type original struct {
	name  string
	forms [][]byte
}

// originals returns the dumps of golden/input and of the shared data.
func originals(t testing.TB) (all []original) {
	t.Helper()
	root := rootDir(t)
	patterns := []string{filepath.Join(root, "golden", "input", "*.dmp"), filepath.Join(root, "golden", "input", "*.core.gz")}
	for _, p := range []string{"crashes/*/dump.dmp", "crashes/*/core", "arch/*/core", "minidumps/*/*.dmp"} {
		patterns = append(patterns, filepath.Join(sharedData(t), p))
	}
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d dumps: %v", p, len(files), err)
		}
		for _, file := range files {
			all = append(all, newOriginal(t, file))
		}
	}
	return all
}

func newOriginal(t testing.TB, file string) original {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(file), ".gz")
	if name == "core" || name == "dump.dmp" {
		name = filepath.Base(filepath.Dir(file)) + "-" + name
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	o := original{name: name, forms: [][]byte{data}}
	open, err := dumpfile.Open(t.Context(), file, dumpfile.Options{Core: elfcore.Options{Spare: true}})
	if err != nil {
		return o
	}
	defer open.Close()
	var other bytes.Buffer
	if _, err := dumpfile.Write(&other, dumpfile.OtherFormat(dumpfile.FormatOf(file)), open.Dump); err == nil {
		o.forms = append(o.forms, other.Bytes())
	}
	return o
}

// makeCorpus writes n dumps into folders of dir. Of ten dumps, five are an original, unchanged or
// converted; one is truncated, one has changed bytes, one has changed stacks, one is compressed
// with gzip, and one is not a dump.
func makeCorpus(t testing.TB, dir string, n int) {
	t.Helper()
	all := originals(t)
	for i := range n {
		r := rand.New(rand.NewPCG(uint64(i), 10))
		o := all[i%len(all)]
		data := o.forms[i/len(all)%len(o.forms)]
		kind := "whole"
		switch r.IntN(10) {
		case 0:
			kind, data = "cut", data[:r.IntN(len(data))]
		case 1:
			kind, data = "bytes", changed(r, data, 1+r.IntN(40), 1)
		case 2:
			kind, data = "words", changed(r, data, 1+r.IntN(200), 8)
		case 3:
			kind, data = "gzip", packed(t, data)
		case 4:
			kind, data = "text", []byte(fmt.Sprintf("no dump, number %d\n", i))
		}
		folder := filepath.Join(dir, fmt.Sprintf("%02d", i%16))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%04d-%s-%s", i, kind, o.name)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// changed changes n words of data. It looks for words that are not zero, because most of a core is
// zeros, where a change has no effect.
func changed(r *rand.Rand, data []byte, n, size int) []byte {
	data = slices.Clone(data)
	for range n {
		at := r.IntN(len(data))
		for range 40 {
			if data[at] != 0 {
				break
			}
			at = r.IntN(len(data))
		}
		at -= at % size
		for k := at; k < min(at+size, len(data)); k++ {
			data[k] = byte(r.Uint32())
		}
	}
	return data
}

func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// corpusSymbols makes a store with the symbols of some of the programs, and returns the flags that
// name all symbols. Other programs have no symbols, or symbols of another build.
func corpusSymbols(t testing.TB, dir string) []string {
	t.Helper()
	data := sharedData(t)
	var elfs []string
	for _, name := range []string{"crashes/*/prog", "arch/*/prog", "crashes/system/libc.so.6", "crashes/sharedlib/libcb.so"} {
		found, err := filepath.Glob(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		elfs = append(elfs, found...)
	}
	store := filepath.Join(dir, "store")
	args := []string{"dump", "--no-debuginfod", "--store", store}
	for i, elf := range elfs {
		if i%3 != 2 {
			args = append(args, elf)
		}
	}
	command(t, args...)
	return []string{
		store, filepath.Join(data, "minidumps", "breakpad", "symbols"), filepath.Join(data, "minidumps", "rust-minidump", "symbols"),
		filepath.Join(rootDir(t), "golden", "dwarf2sym", "walk-sources.sym"),
	}
}
