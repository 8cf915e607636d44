package report

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/walktest"
	"github.com/symtool/symtool/walk/internal/walktest/walks"
)

// The name of a function that may have ended before the instruction is shown in text, as
// by Breakpad; in JSON it is marked as guessed.
func TestFunctionGuessed(t *testing.T) {
	const symbols = "FUNC 100 10 0 f\nPUBLIC 200 0 p\nSTACK CFI INIT 200 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for pc, want := range map[int]struct {
		function string
		guessed  bool
	}{
		0x1108: {"f", false}, 0x1208: {"p", false}, 0x1280: {"p", true}, 0x1180: {"", false},
	} {
		r := walks.Assembled(walktest.Assemble(t, arch.X86_64, dump.Linux).Module("m", 0x1000, 0x1000, symbols).
			At(0x8000).Words(0).Regs("$rip", pc, "$rsp", 0x8000), walk.Config{MaxFrames: 1})
		d := decoded(t, NewDocument(r, DocumentOptions{}))
		f := d["threads"].([]any)[0].(map[string]any)["frames"].([]any)[0].(map[string]any)
		function, _ := f["function"].(string)
		if guessed := f["symtool"].(map[string]any)["function_guessed"]; function != want.function || guessed != want.guessed {
			t.Errorf("%#x: %q, guessed %v, want %+v", pc, function, guessed, want)
		}
		if text := textOf(t, r, TextOptions{}); !strings.Contains(text, "m!"+want.function+" + 0x") && want.function != "" {
			t.Errorf("%#x:\n%s", pc, text)
		}
	}
}
