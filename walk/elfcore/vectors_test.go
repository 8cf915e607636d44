package elfcore

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// words returns the 8-byte words of a register as text.
func words(t *testing.T, c *dump.Context, name string) string {
	t.Helper()
	i, ok := c.Arch.RegIndex(name)
	if !ok {
		t.Fatalf("no register %s", name)
	}
	b := c.Bytes(i)
	if len(b) == 0 {
		v, _ := c.At(i)
		return fmt.Sprintf("%#x", v)
	}
	text := fmt.Sprint(len(b), ":")
	for ; len(b) >= 8; b = b[8:] {
		text += fmt.Sprintf(" %x", binary.LittleEndian.Uint64(b))
	}
	return text
}

// Vector registers have the values that vectors.c sets: on x86-64 in the layout of an AMD processor, which the kernel's
// note describes, on arm64 with SVE's vectors of 32 bytes.
func TestVectors(t *testing.T) {
	for cpu, want := range map[string]map[string]string{
		"x86_64": {
			"$xmm0": "64: 1 2 3 4 5 6 7 8", "$xmm17": "64: 1101 1102 1103 1104 1105 1106 1107 1108",
			"$xmm31": "64: 1f01 1f02 1f03 1f04 1f05 1f06 1f07 1f08", "$xmm16": "64: 0 0 0 0 0 0 0 0", "$k1": "0x1001", "$k7": "0x1007", "$k2": "0x0",
		},
		"aarch64": {"vg": "0x4", "z0": "32: 1 2 3 4", "z31": "32: 1f01 1f02 1f03 1f04", "z5": "32: 0 0 0 0"},
	} {
		d, err := Read(testenv.Gunzip(t, testenv.Input(t, "crashes", "vectors-"+cpu+".core.gz")), cpu, Options{})
		if err != nil || len(d.Threads) != 1 || len(d.Problems) > 0 {
			t.Fatal(cpu, err, d)
		}
		for name, value := range want {
			if got := words(t, d.Threads[0].Context, name); got != value {
				t.Errorf("%s: %s is %s, want %s", cpu, name, got, value)
			}
		}
	}
}
