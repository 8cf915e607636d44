package binfile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/bin"
)

func manyProblems(n int) *Result {
	r := &Result{File: "a.elf"}
	for i := range n {
		r.problem(bin.Problem{Lost: fmt.Sprintf("unit %d", i), Err: &bin.Error{Section: ".debug_info", Offset: uint64(i), Msg: "version 77"}})
	}
	return r
}

// TestProblemsAreBounded checks that a damaged file does not flood the terminal.
func TestProblemsAreBounded(t *testing.T) {
	for _, c := range []struct {
		problems int
		verbose  bool
		lines    int
		last     string
	}{
		{10, false, 10, "symtool: a.elf: .debug_info+0x9: version 77 (lost: unit 9)"},
		{11, false, 11, "symtool: and 1 more problem, which --verbose shows"},
		{1000, false, 11, "symtool: and 990 more problems, which --verbose shows"},
		{1000, true, 1000, "symtool: a.elf: .debug_info+0x3e7: version 77 (lost: unit 999)"},
	} {
		var b bytes.Buffer
		cli.ReportLines(cli.NewMessages(&b), manyProblems(c.problems).Lines, c.verbose)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != c.lines || lines[len(lines)-1] != c.last {
			t.Errorf("%d problems, verbose %v: %d lines, the last %q", c.problems, c.verbose, len(lines), lines[len(lines)-1])
		}
	}
}
