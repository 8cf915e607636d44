package main

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
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
	for _, peer := range cli.CommonPeerFlags {
		testCommonPeerFlag(t, peer.Name, peer.Instead, peer.Has, mentioned)
	}
	for name := range cli.PeerFlags {
		if !known[name] {
			t.Errorf("rows for %q, want a command", name)
		}
	}
}

// testCommonPeerFlag checks the answer about a flag of other programs in every command.
func testCommonPeerFlag(t *testing.T, name, instead, has string, mentioned *regexp.Regexp) {
	answered := 0
	for _, command := range commands(cli.NewMessages(io.Discard)) {
		var flags []string
		for _, f := range command.Flags {
			flags = append(flags, f.Names()...)
		}
		if command.SkipFlagParsing || slices.Contains(flags, name) || has != "" && !slices.Contains(flags, has) {
			continue
		}
		answered++
		for _, m := range mentioned.FindAllStringSubmatch(instead, -1) {
			if m[1] != "version" && !slices.Contains(flags, m[1]) {
				t.Errorf("%s --%s: %q names --%s, want a flag of %s", command.Name, name, instead, m[1], command.Name)
			}
		}
		var stderr bytes.Buffer
		dashes := "--"
		if len(name) == 1 {
			dashes = "-"
		}
		status := run(t.Context(), []string{"symtool", command.Name, dashes + name}, strings.NewReader(""), io.Discard, &stderr)
		if want := "unknown flag " + dashes + name + ": "; status != cli.StatusUsage || !strings.Contains(stderr.String(), want) ||
			strings.Contains(stderr.String(), "did you mean") {
			t.Errorf("symtool %s %s%s: status %d, %q, want status 2, and %q with what takes its place", command.Name, dashes, name, status, stderr.String(), want)
		}
	}
	if answered == 0 {
		t.Errorf("--%s: no command has --%s, want one", name, has)
	}
}

// No message about flags is that of a library, and each names the flag as it was written.
func TestFlagMessages(t *testing.T) {
	for args, want := range map[string]string{
		"walk --fromat json x":       `unknown flag --fromat: did you mean --format?`,
		"walk --format jsno x":       `--format is "jsno", want text, machine, json, jsonl or html; did you mean json?`,
		"lint --format=sarfi x":      `; did you mean sarif?`,
		"lint --format=zzz x":        `codequality or html (see`,
		"dump --help=x":              `flag --help takes no value`,
		"dump --jobs x y":            `--jobs is "x", want a whole number`,
		"dump -j":                    `flag -j needs a value`,
		"walk --verbose=maybe x":     `--verbose is "maybe", want true or false`,
		"convert -- --x":             `symtool: --x: no such file or directory`,
		"store ad d f":               `"ad" is unknown, want add, verify, gc, ls`,
		"store verfiy d":             `did you mean verify?`,
		"sframe ---":                 `unknown flag ---`,
		"integration cmaek":          `no rules for "cmaek": did you mean cmake?`,
		"lint --select rangse x.sym": `unknown rule "rangse": want an ID (SYM101)`,
		"--frobnicate":               `unknown flag --frobnicate`,
		"dmup x":                     `unknown command "dmup": did you mean dump?`,
	} {
		var stderr bytes.Buffer
		run(t.Context(), strings.Fields("symtool "+args), strings.NewReader(""), io.Discard, &stderr)
		if !strings.Contains(stderr.String(), want) || strings.Contains(stderr.String(), "provided but not defined") || strings.Contains(stderr.String(), "stat ") {
			t.Errorf("symtool %s: %q, want %q", args, stderr.String(), want)
		}
	}
}
