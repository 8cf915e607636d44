package pdb

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/cabinet"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// sharedPDBs calls fn with each PDB of the shared test data for which a tool's output was recorded, and with
// that output.
func sharedPDBs(t *testing.T, ext string, fn func(path string, data, recorded []byte)) {
	t.Helper()
	testenv.Shared(t, "data", "pe")
	for _, oracle := range testenv.SharedGlob(t, "data", "pe", "*", "*", "oracle", "*.pdb"+ext) {
		path := filepath.Join(filepath.Dir(filepath.Dir(oracle)), strings.TrimSuffix(filepath.Base(oracle), ext))
		fn(path, sharedPDB(t, path), testenv.Gunzip(t, oracle))
	}
}

// sharedPDB returns a PDB, which may be in a cabinet beside the path.
func sharedPDB(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		return data
	}
	packed, err := os.Open(strings.TrimSuffix(path, "b") + "_")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var out bytes.Buffer
	if err := cabinet.Unpack(&out, packed); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// databaseOf opens a PDB, and reads its names and sections.
func databaseOf(t *testing.T, data []byte, path string) *database {
	t.Helper()
	d, err := openDatabase(bytes.NewReader(data), int64(len(data)), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.readNames(); err != nil {
		t.Fatal(err)
	}
	if err := d.readSections(); err != nil {
		t.Fatal(err)
	}
	return d
}

// winLines returns the STACK WIN records of a PDB as linked, sorted, in the form of fpoLines.
func winLines(t *testing.T, data []byte, path string) []string {
	t.Helper()
	d := databaseOf(t, data, path)
	wins, err := d.frames()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := symfmt.Write(&text, &symfmt.Module{OS: "windows", Wins: wins}, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "STACK WIN 0 "):
			lines = append(lines, line[:len(line)-2])
		case strings.HasPrefix(line, "STACK WIN "):
			lines = append(lines, line)
		}
	}
	return slices.Sorted(slices.Values(lines))
}

// fpoLines returns the STACK WIN records that the output of llvm-pdbutil dump --fpo stands for, sorted. Old
// ones lack their last number, whether the code uses ebp: LLVM reads it from bit 10 of the flags, the highest
// of the number of saved registers, whereas Microsoft's winnt.h and DIA, which wrote the file that
// TestReordered compares with, use bit 12.
func fpoLines(t *testing.T, text string) (lines []string) {
	t.Helper()
	last := ""
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.TrimRight(row, "\n"), "|")
		if len(cells) < 9 || !isHex(cells[0]) {
			continue
		}
		number := func(i int) (n uint64) {
			if _, err := fmt.Sscan(cells[i], &n); err != nil {
				t.Fatalf("%q: %v", row, err)
			}
			return n
		}
		var rva uint64
		if _, err := fmt.Sscanf(cells[0], "%x", &rva); err != nil {
			t.Fatalf("%q: %v", row, err)
		}
		switch strings.TrimSpace(cells[8]) {
		case "FPO": // counts words of 4 bytes
			lines = append(lines, fmt.Sprintf("STACK WIN 0 %x %x %x 0 %x %x %x 0 0", rva, number(1), number(4), 4*number(3), 4*number(5), 4*number(2)))
		case "true", "false":
			if at := fmt.Sprint(rva, cells[1], cells[5]); at != last { // a repeated record is left out
				last = at
				lines = append(lines, fmt.Sprintf("STACK WIN 4 %x %x %x 0 %x %x %x %x 1 %s", rva, number(1), number(5), number(3), number(6), number(2), number(4),
					strings.TrimSpace(strings.Join(cells[10:], "|"))))
			}
		default:
			t.Fatalf("%q: a frame of unknown type", row)
		}
	}
	return slices.Sorted(slices.Values(lines))
}

func isHex(s string) bool { return len(s) == 9 && strings.Trim(s, "0123456789ABCDEF ") == "" }

func compareWins(t *testing.T, path string, data []byte, text string) int {
	t.Helper()
	got, want := winLines(t, data, path), fpoLines(t, text)
	if slices.Equal(got, want) {
		return len(got)
	}
	for _, line := range got {
		if _, found := slices.BinarySearch(want, line); !found {
			t.Errorf("%s: got  %s", path, line)
		}
	}
	for _, line := range want {
		if _, found := slices.BinarySearch(got, line); !found {
			t.Errorf("%s: want %s", path, line)
		}
	}
	return len(got)
}

// The STACK WIN records of each shared PDB are those that llvm-pdbutil 22 printed, byte for byte.
func TestFPO(t *testing.T) {
	n := 0
	sharedPDBs(t, ".fpo.txt.gz", func(path string, data, recorded []byte) { n += compareWins(t, path, data, string(recorded)) })
	if n < 10000 {
		t.Errorf("%d frames, want over 10,000", n)
	}
}

// The same for the PDBs here, with the program itself.
func TestOracleFPO(t *testing.T) {
	testenv.Oracle(t)
	for _, name := range fixtureNames {
		path := testenv.Unpacked(t, strings.TrimSuffix(testenv.Input(t, name), ".gz"))
		out, err := exec.Command(testenv.Tool(t, "llvm-pdbutil-22"), "dump", "--fpo", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d frames", name, compareWins(t, path, data, string(out)))
	}
}
