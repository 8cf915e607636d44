package dwarf2sym

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// ReadFile finds the debug file beside the file, and the supplementary file that a link names,
// unless the options provide them or forbid searching.
func TestReadFile(t *testing.T) {
	for _, c := range []struct {
		file   string
		o      Options
		funcs  bool // has functions
		others int  // number of files that were opened
	}{
		{"pair.elf", Options{}, true, 1},
		{"pair.elf", Options{Hermetic: true}, false, 0},
		{"pair.elf", Options{Debug: symtest.Open(t, testenv.Input(t, "pair.debug"))}, true, 0},
		{"dwz5.elf", Options{}, true, 1},
		{"gcc-dwarf5.elf", Options{}, true, 0},
	} {
		var opened []string
		c.o.Opened = func(path string) { opened = append(opened, path) }
		result, err := ReadFile(context.Background(), testenv.Input(t, c.file), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		if got := len(result.Module.Funcs) > 0; got != c.funcs || len(opened) != c.others || len(result.Problems) > 0 {
			t.Errorf("%s: %d functions, opened %q, problems %v", c.file, len(result.Module.Funcs), opened, result.Problems)
		}
	}
	if _, err := ReadFile(context.Background(), testenv.Input(t, "README.md"), Options{}); err == nil || !strings.Contains(err.Error(), "README.md: not a binary") {
		t.Errorf("README.md: error %v", err)
	}
}

// A file in memory has the same symbols as on disk.
func TestNewBinary(t *testing.T) {
	data := testenv.ReadInput(t, "gcc-dwarf5.elf")
	file, err := NewBinary(bytes.NewReader(data), int64(len(data)), "memory")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	result, err := Read(context.Background(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := readFixture(t, "gcc-dwarf5.elf", Options{})
	if len(result.Module.Funcs) != len(m.Funcs) || result.Module.Name != "memory" || file.ID() != m.ID {
		t.Errorf("%d functions of %s %s, want %d of %s", len(result.Module.Funcs), result.Module.Name, file.ID(), len(m.Funcs), m.ID)
	}
	if none, err := NewBinary(strings.NewReader("text"), 4, "text"); none != nil || err == nil {
		t.Errorf("text: %v, error %v", none, err)
	}
}

// otherBinary is a Binary of another package.
type otherBinary struct{}

func (otherBinary) ID() string      { return "" }
func (otherBinary) BuildID() []byte { return nil }
func (otherBinary) HasCode() bool   { return true }
func (otherBinary) HasDWARF() bool  { return true }
func (otherBinary) Close() error    { return nil }

// Binaries that this package did not open are rejected.
func TestForeignBinary(t *testing.T) {
	for _, o := range []Options{{}, {Debug: otherBinary{}}} {
		if _, err := Read(context.Background(), otherBinary{}, o); err == nil || !strings.Contains(err.Error(), "dwarf2sym.otherBinary") {
			t.Errorf("error %v", err)
		}
	}
	if _, err := Read(context.Background(), nil, Options{}); err == nil {
		t.Error("nil was read")
	}
}
