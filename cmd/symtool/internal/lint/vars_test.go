package lint_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// TestVariablesHaveNoErrors checks that the records of variables written by dump have no
// errors, for all fixtures and, if there is a compiler, for a large C++ program.
func TestVariablesHaveNoErrors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil || len(files) < 100 {
		t.Fatal(len(files), err)
	}
	if testenv.Comparing() {
		files = append(files, testenv.Templates(t))
	}
	dir := t.TempDir()
	lint := []string{"symtool", "lint", "--select", "variables"}
	for _, file := range files {
		out := filepath.Join(dir, filepath.Base(file)+".sym")
		var said bytes.Buffer
		status := app.Run(context.Background(), []string{"symtool", "dump", "--vars", "all", "-o", out, file}, nil, &said, &said)
		if status == cli.StatusOK {
			lint = append(lint, out)
		}
	}
	if len(lint) < 100 {
		t.Fatalf("%d symbol files", len(lint))
	}
	var report, said bytes.Buffer
	if status := app.Run(context.Background(), lint, nil, &report, &said); status != cli.StatusOK {
		for line := range strings.Lines(report.String()) {
			if strings.Contains(line, " error: ") {
				t.Error(line)
			}
		}
		t.Errorf("status %d: %s", status, said.String())
	}
}
