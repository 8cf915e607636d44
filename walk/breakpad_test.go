package walk

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// breakpadWalk walks one of Breakpad's dumps with Breakpad's symbols.
func breakpadWalk(t *testing.T, name string) *Result {
	t.Helper()
	return walkFile(t, testenv.Shared(t, "data", "minidumps", "breakpad", name), breakpadSources(t), Config{Trace: true})
}

func breakpadSources(t *testing.T) *Sources {
	return symbolSources(t, testenv.Shared(t, "data", "minidumps", "breakpad", "symbols"))
}

// breakpadFile is one of Breakpad's expected outputs, which have the line ends
// of Windows.
func breakpadFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\r", "")
}

// Both outputs are Breakpad's own, byte for byte.
func TestBreakpadOutput(t *testing.T) {
	r := breakpadWalk(t, "minidump2.dmp")
	var text, machine bytes.Buffer
	if err := WriteText(&text, r, TextOptions{Registers: true}); err != nil {
		t.Fatal(err)
	}
	if err := WriteMachine(&machine, r); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"minidump2.stackwalk.out": text.String(), "minidump2.stackwalk.machine_readable.out": machine.String(),
	} {
		if want := breakpadFile(t, name); got != want {
			t.Errorf("%s: got\n%swant\n%strace\n%s", name, got, want, strings.Join(r.Stacks[0].Trace, "\n"))
		}
	}
}

func TestPrintOthers(t *testing.T) {
	for _, name := range []string{"linux_divide_by_zero", "linux_inline", "linux_null_read_av", "linux_overflow", "read_av_conditional", "thread_name_list", "tiny-exe-with-cet-xsave"} {
		r := breakpadWalk(t, name+".dmp")
		var text bytes.Buffer
		WriteText(&text, r, TextOptions{Registers: true, Ends: true})
		fmt.Println("=====", name)
		fmt.Println(text.String())
		for _, s := range r.Stacks {
			fmt.Println(strings.Join(s.Trace, "\n"))
		}
	}
}
