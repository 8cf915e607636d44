package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// network are packages that a program links only if it talks to servers.
var network = []string{"net/http", "crypto/tls", "net"}

// Who imports a package that reads files links no network; resolve/remote is for that.
func TestNoNetwork(t *testing.T) {
	for _, c := range []struct {
		pkg     string
		network bool
	}{
		{"symfmt", false}, {"sframe", false}, {"dwarf2sym", false}, {"lint", false}, {"resolve", false}, {"walk", false}, {"symfmt/symdiff", false}, {"resolve/store", false},
		{"resolve/remote", true},
	} {
		list := exec.Command("go", "list", "-deps", "./"+c.pkg)
		list.Dir = testenv.Root(t)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", c.pkg, err)
		}
		var got []string
		for dep := range strings.FieldsSeq(string(out)) {
			if slices.Contains(network, dep) {
				got = append(got, dep)
			}
		}
		if want := len(network); len(got) != 0 && !c.network || len(got) != want && c.network {
			t.Errorf("%s links %q, wants the network: %v", c.pkg, got, c.network)
		}
	}
}
