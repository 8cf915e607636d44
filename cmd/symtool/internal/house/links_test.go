package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// network lists packages that only programs that talk to servers link.
var network = []string{"net/http", "crypto/tls", "net"}

// TestLinks checks that a program that imports a package links network code only if that is the
// package's purpose, and links only the listed modules. The go.mod of such a program names only
// these modules, whatever our go.mod requires for the commands and the tests.
func TestLinks(t *testing.T) {
	const (
		compress = "github.com/klauspost/compress"
		demangle = "github.com/ianlancetaylor/demangle"
		insn     = "golang.org/x/arch"
		json     = "github.com/go-json-experiment/json"
		smetrics = "github.com/xrash/smetrics"
		udiff    = "github.com/aymanbagabas/go-udiff"
		xz       = "github.com/mikelolasagasti/xz"
	)
	for _, c := range []struct {
		pkg     string
		network bool
		modules []string
	}{
		{"symfmt", false, []string{compress}},
		{"sframe", false, nil},
		{"dwarf2sym", false, []string{demangle, compress, xz}},
		{"lint", false, []string{compress, smetrics, insn}},
		{"resolve", false, []string{compress}},
		{"resolve/supplier", false, []string{demangle, compress, xz}},
		{"walk", false, []string{json, demangle, compress, xz, insn}},
		{"symfmt/symdiff/report", false, []string{udiff, compress}},
		{"resolve/store", false, []string{compress}},
		{"resolve/remote", true, []string{demangle, compress, xz}},
	} {
		list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "./"+c.pkg)
		list.Dir = testenv.Root(t)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.pkg, err)
		}
		var linked, modules []string
		for line := range strings.Lines(string(out)) {
			dep, mod, _ := strings.Cut(strings.TrimSpace(line), " ")
			if slices.Contains(network, dep) {
				linked = append(linked, dep)
			}
			if mod != "" && mod != module && !slices.Contains(modules, mod) {
				modules = append(modules, mod)
			}
		}
		if want := len(network); len(linked) != 0 && !c.network || len(linked) != want && c.network {
			t.Errorf("%s links %q, wants the network: %v", c.pkg, linked, c.network)
		}
		if slices.Sort(modules); !slices.Equal(modules, c.modules) {
			t.Errorf("%s links modules %q, want %q", c.pkg, modules, c.modules)
		}
	}
}
