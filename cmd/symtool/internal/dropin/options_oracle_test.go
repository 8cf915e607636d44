package dropin

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// helpOption matches an option in a help text.
var helpOption = regexp.MustCompile(`(?:^|[ ,])(--?[a-zA-Z?][a-zA-Z0-9-]*)`)

// TestOracleOptions checks that symtool, under the name of a program, knows every option in the program's
// help: it supports the option, or refuses it by name.
func TestOracleOptions(t *testing.T) {
	testenv.Oracle(t)
	for tool, p := range map[string]*program{
		"llvm-symbolizer-22": &llvmSymbolizer, "llvm-addr2line-22": &llvmAddr2line, "addr2line": &addr2line, "eu-addr2line": &euAddr2line,
		"eu-stack": &euStack, "eu-unstrip": &euUnstrip,
	} {
		help, err := exec.Command(testenv.Tool(t, tool), "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(string(help)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "-") {
				continue
			}
			head, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
			for _, m := range helpOption.FindAllStringSubmatch(head, -1) {
				found++
				name := strings.TrimLeft(m[1], "-")
				known := slices.ContainsFunc(p.options, func(o option) bool {
					if strings.HasPrefix(m[1], "--") || o.oneDash && len(name) > 1 {
						return o.long == name
					}
					return o.short == name
				})
				if !known {
					t.Errorf("%s: no %s", tool, m[1])
				}
			}
		}
		if found < 15 {
			t.Errorf("%s: %d options", tool, found)
		}
	}
}
