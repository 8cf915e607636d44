package elfobj

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
)

// A packed relocation section has an address, and bits for the words behind it.
func TestRelr(t *testing.T) {
	f, err := Open(testenv.Input(t, "uncovered.elf"), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	at := text.Addr &^ 7
	var packed [16]byte
	f.Order.PutUint64(packed[:], at)
	f.Order.PutUint64(packed[8:], 0b1011)
	var got []uint64
	f.relr(packed[:], func(addr, _ uint64) { got = append(got, addr-at) })
	if len(got) != 3 || got[0] != 0 || got[1] != 8 || got[2] != 24 {
		t.Errorf("%x", got)
	}
}

// The loader stores what readelf says.
func TestOraclePointers(t *testing.T) {
	const path = "/usr/lib/x86_64-linux-gnu/libc.so.6"
	line := regexp.MustCompile(`(?m)^([0-9a-f]{16})(?:$| .*_I?RELATIV)`)
	want := map[uint64]bool{}
	out, err := exec.Command(testenv.Tool(t, "readelf"), "-rW", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range line.FindAllSubmatch(out, -1) {
		addr, _ := strconv.ParseUint(string(m[1]), 16, 64)
		want[addr] = true
	}
	f, err := Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	f.Pointers(func(addr, value uint64) {
		n++
		if !want[addr] || value == 0 {
			t.Errorf("%#x at %#x", value, addr)
		}
	})
	if n != len(want) || n < 1000 {
		t.Errorf("%d pointers, readelf has %d", n, len(want))
	}
}
