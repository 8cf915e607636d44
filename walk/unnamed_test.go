package walk

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// The cores that gdb writes for a program in QEMU have neither its name nor its headers. The binary is
// still found if it is given as a file or is in a folder, under any name, and the symbol file is found
// by the build-id in memory.
func TestUnnamedProgram(t *testing.T) {
	for _, cpu := range []string{"mips64", "riscv64"} {
		t.Run(cpu, func(t *testing.T) {
			dir := testenv.Shared(t, "data", "arch", cpu)
			core, program := filepath.Join(dir, "core"), filepath.Join(dir, "prog")
			want := walkWith(t, core, program)
			if m := want.Dump.Modules[want.Dump.Main]; m.Path != "prog" || len(m.BuildID) != 20 {
				t.Errorf("module %q %x", m.Path, m.BuildID)
			}
			if len(want.Stacks[0].Frames) != 19 {
				t.Fatalf("%d frames", len(want.Stacks[0].Frames))
			}
			folder := t.TempDir()
			copyFile(t, program, filepath.Join(folder, "renamed"), nil)
			copyFile(t, testenv.Shared(t, "data", "arch", "arm64", "prog"), filepath.Join(folder, "other"), nil)
			if got := walkWith(t, core, folder); stackText(got) != stackText(want) {
				t.Errorf("with a folder\n%s\nwant\n%s", stackText(got), stackText(want))
			}
			store := t.TempDir()
			if err := walktest.WriteSymbols(program, store); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(store, "*", "*", "*.sym"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			got := walkFile(t, core, symbolSources(t, files[0]), Config{})
			if stackText(got) != stackText(want) {
				t.Errorf("with a symbol file\n%s\nwant\n%s", stackText(got), stackText(want))
			}
		})
	}
}

// copyFile copies a file, with a change.
func copyFile(t *testing.T, from, to string, change func([]byte)) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(data)
	}
	if err := os.WriteFile(to, data, 0o700); err != nil {
		t.Fatal(err)
	}
}

// buildIDNote is where the riscv64 program has its build-id, and how the note's
// contents begin.
const buildIDNote = 0x101c8

var gnuBuildID = []byte("\x03\x00\x00\x00GNU\x00")

// withoutNote removes the part of a core's memory that has the build-id.
func withoutNote(core []byte) {
	order := binary.LittleEndian
	for i := range int(order.Uint16(core[56:])) {
		if p := core[int(order.Uint64(core[32:]))+56*i:]; order.Uint64(p[16:]) == buildIDNote {
			order.PutUint32(p, uint32(elf.PT_NULL))
		}
	}
}

// Without a build-id the bytes decide: a binary in the folder is used if it is the only one that
// agrees with the memory.
func TestUnnamedWithoutID(t *testing.T) {
	dir := testenv.Shared(t, "data", "arch", "riscv64")
	program := filepath.Join(dir, "prog")
	folder, core := t.TempDir(), filepath.Join(t.TempDir(), "core")
	copyFile(t, filepath.Join(dir, "core"), core, withoutNote)
	copyFile(t, program, filepath.Join(folder, "renamed"), nil)
	copyFile(t, program, filepath.Join(folder, "patched"), func(data []byte) { data[0x600] ^= 1 }) // code
	copyFile(t, testenv.Shared(t, "data", "arch", "mips64", "prog"), filepath.Join(folder, "other"), nil)

	want := stackText(walkWith(t, filepath.Join(dir, "core"), program))
	r := walkWith(t, core, folder)
	if m := r.Dump.Modules[r.Dump.Main]; stackText(r) != want || m.Path != "renamed" || len(m.BuildID) != 20 {
		t.Errorf("module %+v\n%s\nwant\n%s", m, stackText(r), want)
	}
	if r := walkWith(t, core, program); stackText(r) != want {
		t.Errorf("with the file\n%s\nwant\n%s", stackText(r), want)
	}
	if r := walkWith(t, core, filepath.Join(folder, "patched")); stackText(r) == want {
		t.Error("a binary with other code is used")
	}
	// Another binary with the same bytes, as far as the core has them.
	copyFile(t, program, filepath.Join(folder, "twin"), func(data []byte) { data[bytes.Index(data, gnuBuildID)+len(gnuBuildID)] ^= 1 })
	r = walkWith(t, core, folder)
	if m := r.Dump.Modules[r.Dump.Main]; m.Path != "" || len(m.BuildID) != 0 || len(r.Stacks[0].Frames[0].Names) > 0 {
		t.Errorf("one of two that agree is used: %+v", m)
	}
}
