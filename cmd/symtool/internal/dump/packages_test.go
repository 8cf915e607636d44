package dump

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// dumpStore dumps operands into a store, and returns the store's files and the messages.
func dumpStore(t *testing.T, jobs int, scratch int64, operands ...string) (files map[string]string, messages string) {
	t.Helper()
	var out bytes.Buffer
	cfg := &dumpConfig{store: t.TempDir(), jobs: jobs, files: operands, packages: packageLimits{unpacked: 1 << 30, ratio: 100, scratch: scratch}}
	d := &dumper{dumpConfig: cfg, stdout: io.Discard, msgs: cli.NewMessages(&out)}
	_ = d.run(context.Background()) // findings are in the messages
	files = map[string]string{}
	filepath.WalkDir(cfg.store, func(path string, e os.DirEntry, err error) error {
		if data, err := os.ReadFile(path); err == nil {
			files[strings.TrimPrefix(path, cfg.store)] = string(data)
		}
		return nil
	})
	return files, out.String()
}

// packed are the fixtures of TestPackages, in three packages. An ELF file and its debug file, a file and what dwz moved
// out of it, and a Windows program and its PDB are each in two different packages. No two files have the same ID.
var packed = map[string][]string{
	"a": {"soname.elf", "pdb-x86.exe", "gcc-O0.elf"},
	"b": {"dwz4.elf", "pdb-x64.pdb.gz", "pe-mingw64.dll", "dwz5-common.debug"},
	"c": {"dwz4-common.debug", "soname.debug", "pdb-x86.pdb.gz", "pdb-x64.exe", "nodebug.elf", "dwz5.elf"},
}

// pack writes each fixture into a folder, and tar archives as in packed. It returns the paths of the archives and the
// size of the largest member.
func pack(t *testing.T, dir, packages string) (paths []string, largest int64) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(packed)) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, input := range packed[name] {
			data := testenv.ReadInput(t, input)
			plain, isPDB := strings.CutSuffix(input, ".gz")
			if isPDB {
				data = gunzip(t, data)
			}
			largest = max(largest, int64(len(data)))
			err := os.WriteFile(filepath.Join(dir, plain), data, 0o666)
			if err == nil {
				err = w.WriteHeader(&tar.Header{Name: "usr/lib/" + plain, Mode: 0o644, Size: int64(len(data))})
			}
			if err == nil {
				_, err = w.Write(data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(packages, name+".tar")
		if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths, largest
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(z)
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestPackages checks that packages give the symbol files of the folder that was packed, in every order, with any
// number of jobs, and if members must be read again.
func TestPackages(t *testing.T) {
	dir, packages := t.TempDir(), t.TempDir()
	paths, largest := pack(t, dir, packages)
	want, messages := dumpStore(t, 1, 1<<20, dir)
	if len(want) != 8 {
		t.Fatalf("%d symbol files of the folder, %q, want 8", len(want), messages)
	}
	for name, text := range map[string]string{"/dwz4.elf/": "\nFUNC ", "/dwz5.elf/": "\nFUNC ", "/pdb-x64.pdb/": "\nFUNC ", "/libnest.so.1/": "\nFUNC ", "/pe-mingw64.dll/": " pe-mingw64.dll\n"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(path string) bool {
			return strings.HasPrefix(path, name) && strings.Contains(want[path], text)
		}) {
			t.Errorf("no symbol file of the folder below %s has %q, want one", name, text)
		}
	}
	check := func(jobs int, scratch int64, operands ...string) {
		t.Helper()
		got, messages := dumpStore(t, jobs, scratch, operands...)
		if maps.Equal(got, want) {
			return
		}
		for path := range want {
			if got[path] != want[path] {
				t.Errorf("%q, %d jobs, scratch of %d: %s has %d bytes, want the %d of the folder: %s", operands, jobs, scratch, path, len(got[path]), len(want[path]), messages)
			}
		}
		t.Errorf("%q, %d jobs, scratch of %d: %d symbol files, want %d", operands, jobs, scratch, len(got), len(want))
	}
	for i, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		check(1+i%2*3, 1<<24, paths[order[0]], paths[order[1]], paths[order[2]])
		check(4-i%2*3, largest, paths[order[0]], paths[order[1]], paths[order[2]])
	}
	check(2, 1<<24, packages)
	unpacked := filepath.Join(dir, "dwz4.elf")
	check(2, 1<<24, paths[2], unpacked, paths[0], paths[1])
}

// TestSameID checks that the first of two files with the same ID is dumped, with any number of jobs.
func TestSameID(t *testing.T) {
	packages := t.TempDir()
	data := testenv.ReadInput(t, "pe-mingw64.dll")
	var paths []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(packages, name+".tar")
		if err := os.WriteFile(path, tarOf(t, name+".dll", data), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, jobs := range []int{1, 4} {
		for i, operands := range [][]string{{paths[0], paths[1]}, {paths[1], paths[0]}} {
			files, messages := dumpStore(t, jobs, 1<<24, operands...)
			got, want := slices.Collect(maps.Values(files)), []string{" a.dll\n", " b.dll\n"}[i]
			if len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("%d jobs, %q: %q, %s; want one file with %q", jobs, operands, slices.Collect(maps.Keys(files)), messages, want)
			}
		}
	}
}

// tarOf returns an archive with one member.
func tarOf(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))})
	if err == nil {
		_, err = w.Write(data)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCutPackage checks that only the damaged part of a package is lost.
func TestCutPackage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.tar")
	data := tarOf(t, "usr/lib/x", testenv.ReadInput(t, "gcc-O0.elf"))
	if err := os.WriteFile(path, data[:len(data)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if _, messages := dumpStore(t, 1, 1<<24, path); !strings.Contains(messages, path+"(usr/lib/") || !strings.Contains(messages, "unexpected EOF") {
		t.Errorf("of a cut package: %q, want the member and why", messages)
	}
}

// TestMemberLimit checks that a member larger than the scratch space is lost, and the others are not.
func TestMemberLimit(t *testing.T) {
	packages := t.TempDir()
	paths, largest := pack(t, t.TempDir(), packages)
	want, _ := dumpStore(t, 2, largest, paths...)
	got, messages := dumpStore(t, 2, largest-1, paths...)
	maps.DeleteFunc(want, func(path, text string) bool { return got[path] == text })
	if len(want) != 1 || strings.Count(messages, "pdb-x64.pdb): 90112 bytes or more, want at most 90111 (lost: the file)") != 1 {
		t.Errorf("%q have other bytes, %q; want that of the PDB alone, which is lost", slices.Collect(maps.Keys(want)), messages)
	}
}
