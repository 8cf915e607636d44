package follow

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The rules of Windows and macOS binaries agree with each of their instructions. Exceptions are listed: assembly
// functions that do not match their unwind codes.
func TestPE(t *testing.T) {
	known := map[string]string{
		"pe-unwind64.exe 0x10d0": "faulted: nothing was called, the system pushed a machine frame",
	}
	for name, dir := range map[string]string{
		"pe-unwind64.exe": "pe", "pe-unwind64v2.exe": "pe", "pe-unwindarm64.exe": "pe", "pe-arm64ec.exe": "pe",
		"macho-x86_64": "macho", "macho-x86_64-nofp": "macho", "macho-arm64": "macho",
	} {
		text, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", dir, name+".sym"))
		if err != nil {
			t.Fatal(err)
		}
		f, cpu := opened(t, testenv.Input(t, name))
		found := 0
		stats := Run(cpu, rowsOf(t, text, f.Arch), binaryOf(f), func(f2 Finding) {
			found++
			if place := fmt.Sprintf("%s %#x", name, f2.Addr-f.Base); known[place] == "" {
				t.Errorf("%s: %s", place, f2.Text)
			}
			delete(known, fmt.Sprintf("%s %#x", name, f2.Addr-f.Base))
		})
		t.Logf("%s: %d instructions compared, %d findings", name, stats.Instructions, found)
		if stats.Instructions < 200 {
			t.Errorf("%s: only %d instructions were compared", name, stats.Instructions)
		}
	}
	for place, why := range known {
		t.Errorf("%s is no longer found: %s", place, why)
	}
}
