package dropin_test

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/dropin"
)

// TestPeerFlags checks that a message about a flag of another program names only flags that the command has, and
// exists only for flags that the command does not have.
func TestPeerFlags(t *testing.T) {
	mentioned := regexp.MustCompile(`--([a-z][a-z-]*)`)
	known := map[string]bool{}
	for _, command := range app.Commands(cli.NewMessages(io.Discard)) {
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

// testCommonPeerFlag checks the message about a flag of other programs in every command.
func testCommonPeerFlag(t *testing.T, name, instead, has string, mentioned *regexp.Regexp) {
	answered := 0
	for _, command := range app.Commands(cli.NewMessages(io.Discard)) {
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
		status := app.Run(t.Context(), []string{"symtool", command.Name, dashes + name}, strings.NewReader(""), io.Discard, &stderr)
		if want := "unknown flag " + dashes + name + ": "; status != cli.StatusUsage || !strings.Contains(stderr.String(), want) ||
			strings.Contains(stderr.String(), "did you mean") {
			t.Errorf("symtool %s %s%s: status %d, %q, want status 2, and %q with what takes its place", command.Name, dashes, name, status, stderr.String(), want)
		}
	}
	if answered == 0 {
		t.Errorf("--%s: no command has --%s, want one", name, has)
	}
}

// TestWrongCommandLines checks that a wrong command line gets one line, which names what is wrong as it was written
// and, if known, what was meant. The line is never a message of a library.
func TestWrongCommandLines(t *testing.T) {
	for args, want := range map[string]string{
		// Commands and topics.
		"lnit x.sym": `unknown command "lnit": did you mean lint?`, "wlak x": `did you mean walk?`, "reslove 10": `did you mean resolve?`,
		"covnert a": `did you mean convert?`, "srever": `did you mean serve?`, "dmup x": `unknown command "dmup": did you mean dump?`,
		"frobnicate": `unknown command "frobnicate" (see`, "help filtres": `unknown command or topic "filtres": did you mean filters?`,
		"as llvm-symbolzer": `unknown program "llvm-symbolzer": did you mean llvm-symbolizer?`, "as dump_sym a": `did you mean dump_syms?`,
		"store verfiy d": `did you mean verify?`, "store ad d f": `"ad" is unknown, want add, verify, gc, ls`,
		"integration cmaek": `no rules for "cmaek": did you mean cmake?`, "completion bsh": `unknown shell "bsh", want bash, zsh or fish`,
		// Flags.
		"--frobnicate": `unknown flag --frobnicate (see`, "--fromat": `did you mean --format?`, "-h=1": `flag -h takes no value`, "--version=2": `flag --version takes no value`,
		"walk --fromat json x":  `unknown flag --fromat: did you mean --format?`,
		"dump --symbol-ulr u a": `did you mean --symbol-url?`, "dump --no-inline a": `did you mean --no-inlines?`, "dump -x a": `unknown flag -x (see`,
		"dump --help=x": `flag --help takes no value`, "dump -j": `flag -j needs a value`, "dump --arch= a": `--arch is empty`, "sframe ---": `unknown flag ---`,
		"convert -- --x": `symtool: --x: no such file or directory`, "walk --verbose=maybe x": `--verbose is "maybe", want true or false`,
		// Flags of the programs that symtool replaces.
		"walk --json x": `use --format json`, "walk --human x": `text is the default`, "walk --symbols-path=d x": `use --symbols PATH`,
		"walk --cyborg f x": `run it twice`, "walk --dump x": `symtool inspect DUMP`, "walk -m x": `use --format machine`,
		"dump -r a": `references between units are always followed`, "dump --inlines a": `inlined functions are written`, "dump -V": `symtool --version`,
		"dump --mapping-file f a": `use --map-file FILE`, "resolve -e a 10": `name the binary with --binaries PATH`, "resolve -f 10": `functions are printed in every format`,
		"serve --port 80 d": `use --listen HOST:PORT`, "inspect --json d": `use --format json`,
		"walk -1 x": `unknown flag -1: an option of symtool as eu-stack`, "resolve --basenames": `an option of symtool as llvm-symbolizer, llvm-addr2line, addr2line or eu-addr2line`,
		"walk --evil-json f": `an option of symtool as minidump-stackwalk`, "inspect -n": `modules are printed`, "dump --code-id x": `an option of symtool as dump_syms`,
		// The same before a command.
		"-v": `unknown flag -v: a command comes first; dump, convert, resolve and 6 others: use -v`, "--json x": `a command comes first; dump, sframe, inspect and 8 others: use --format json`,
		"-r a": `; dump: references between units are always followed; `, "--human x": `: text is the default`, "--symbols-path d": `; resolve, walk, doctor: use --symbols PATH`,
		"-i a": `; dump: use --module-only; resolve: inlined functions are printed`, "-s d": `; dump: use --store DIR; resolve, walk, doctor: use -s`,
		"-1": `unknown flag -1: an option of symtool as eu-stack`, "--features=x": `unknown flag --features: an option of symtool as minidump-stackwalk`,
		// Formats, rules and other words.
		"walk --format jsno x": `--format is "jsno", want text, machine, json, jsonl or html; did you mean json?`, "lint --format=sarfi x": `; did you mean sarif?`,
		"lint --format=zzz x": `codequality or html (see`, "convert --to gysm x": `did you mean gsym?`, "convert --from breakpda x": `did you mean breakpad?`,
		"resolve --format addr2lin 10": `did you mean addr2line?`, "upload --protocol sym-uplod-v2 u f": `did you mean sym-upload-v`,
		"lint --select rangse x.sym": `unknown rule "rangse": want an ID (SYM101)`, "lint --explain rangse": `did you mean ranges?`, "lint --explain SYM4019": `--list prints all rules`,
		"dump --demangle cpp a": `--demangle is "cpp", want full or none`, "walk --techniques scn x": `did you mean scan?`,
		// Numbers and operands.
		"dump --jobs x y": `--jobs is "x", want a whole number`, "dump --jobs 99999999999999999999 a": `want a whole number of at most 18 digits`,
		"walk --max-frames -1 x": `--max-frames is -1, want 0 or more`, "walk --pid abc": `--pid is "abc", want a whole number`, "sframe --pc x f": `--pc is "x", want a hexadecimal address`,
		"diff a": `1 operand, want OLD and NEW`, "resolve --symbols d zz": `"zz" is not an address`, "resolve --filter 10": `--filter reads standard input`,
		"dump --store d --output f a": `--output and --store exclude each other`, "convert --to breakpad": `no IN`,
	} {
		var stdout, stderr bytes.Buffer
		status := app.Run(t.Context(), strings.Fields("symtool "+args), strings.NewReader(""), &stdout, &stderr)
		said := stderr.String()
		if !strings.Contains(said, want) || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "symtool") {
			t.Errorf("symtool %s: %q, want one line with %q", args, said, want)
		}
		if wanted := cli.StatusUsage; status != wanted && !strings.HasPrefix(args, "convert -- ") || stdout.Len() > 0 {
			t.Errorf("symtool %s: status %d and %d bytes of output, want %d and none", args, status, stdout.Len(), wanted)
		}
		for _, leak := range []string{"provided but not defined", "Incorrect Usage", "stat ", "strconv.", "invalid syntax", "invalid value"} {
			if strings.Contains(said, leak) {
				t.Errorf("symtool %s: %q has the words of a library", args, said)
			}
		}
	}
}

// TestPeerCommands checks that a message about an unknown command names existing commands and programs, and that
// there is one for each program whose command line symtool takes.
func TestPeerCommands(t *testing.T) {
	var names []string
	for _, command := range app.Commands(cli.NewMessages(io.Discard)) {
		names = append(names, command.Name)
	}
	for word, command := range cli.PeerCommands {
		if slices.Contains(names, word) || !slices.Contains(names, command) {
			t.Errorf("%s is a command, or %s is none", word, command)
		}
		instead := "use symtool " + command
		if slices.Contains(dropin.Names(), word) {
			instead += ", or symtool as " + word
		}
		var errs bytes.Buffer
		if status := app.Run(t.Context(), []string{"symtool", word, "x"}, nil, &errs, &errs); status != cli.StatusUsage || !strings.Contains(errs.String(), ": "+instead+" (see") {
			t.Errorf("%s: status %d: %s", word, status, errs.String())
		}
	}
	for _, program := range dropin.Names() {
		if cli.PeerCommands[program] == "" {
			t.Errorf("%s: no command does its work", program)
		}
	}
}

// TestPeerOptions checks that each option of a program is a flag of the command that does its work, or has an answer:
// what to use instead, or the name of the program.
func TestPeerOptions(t *testing.T) {
	app.Commands(cli.NewMessages(io.Discard))
	asked := 0
	for _, program := range cli.Programs {
		for _, option := range program.Options {
			dashes := strings.Repeat("-", min(2, len(option)))
			if option == "" {
				continue
			}
			asked++
			var errs bytes.Buffer
			app.Run(t.Context(), []string{"symtool", cli.PeerCommands[program.Name], dashes + option}, strings.NewReader(""), io.Discard, &errs)
			if said := errs.String(); strings.Contains(said, "unknown flag") && (!strings.Contains(said, "unknown flag "+dashes+option+": ") || strings.Contains(said, "did you mean")) {
				t.Errorf("%s %s%s: %s", program.Name, dashes, option, said)
			}
		}
	}
	if asked < 200 {
		t.Errorf("%d options, want 200", asked)
	}
}
