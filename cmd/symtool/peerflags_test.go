package main

import (
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
)

// A message about a flag of another program names only flags that the command has, and is only for
// those that it does not have.
func TestPeerFlags(t *testing.T) {
	mentioned := regexp.MustCompile(`--([a-z][a-z-]*)`)
	known := map[string]bool{}
	for _, command := range commands(cli.NewMessages(io.Discard)) {
		known[command.Name] = true
		var flags []string
		for _, f := range command.Flags {
			flags = append(flags, f.Names()...)
		}
		for _, peer := range cli.PeerFlags[command.Name] {
			if slices.Contains(flags, peer.Name) {
				t.Errorf("%s has --%s: want no row for it", command.Name, peer.Name)
			}
			for _, m := range mentioned.FindAllStringSubmatch(peer.Instead, -1) {
				if !slices.Contains(flags, m[1]) {
					t.Errorf("%s --%s: %q names --%s, want a flag of %s", command.Name, peer.Name, peer.Instead, m[1], command.Name)
				}
			}
		}
	}
	for name := range cli.PeerFlags {
		if !known[name] {
			t.Errorf("rows for %q, want a command", name)
		}
	}
}
