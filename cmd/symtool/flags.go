package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/srcmap"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/text"
)

// The formats of the summary.
const (
	formatText = "text"
	formatJSON = "json"
)

// wordFlag is a flag whose value is one of a few words or, as a list, several of them with commas.
// Help, manual pages and completions name them.
type wordFlag struct {
	cli.DocGenerationFlag
	values []string
	list   bool
}

// words returns a flag whose value is one of values.
func words(f cli.DocGenerationFlag, values ...string) cli.Flag { return &wordFlag{f, values, false} }

// wordList returns a flag whose value is a list of values.
func wordList(f cli.DocGenerationFlag, values ...string) cli.Flag { return &wordFlag{f, values, true} }

func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - for standard output"}
}

func jobsFlag() cli.Flag {
	return &cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "work with `N` threads, 1 to 1024; all processors without it"}
}

func verboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print all problems, what was written and where"}
}

// maxJobs is far above any machine: a greater number is a typing error.
const maxJobs = 1024

// cfiSources are the values of --cfi.
var cfiSources = map[string]dwarf2sym.CFISource{
	"auto": dwarf2sym.CFIAuto, "dwarf": dwarf2sym.CFIDWARF, "sframe": dwarf2sym.CFISFrame,
}

func cfiFlag(usage string) cli.Flag {
	return words(&cli.StringFlag{Name: "cfi", Usage: usage, Value: "auto"}, "auto", "dwarf", "sframe")
}

func oneOf(c *cli.Context, flag string, values ...string) error {
	for _, v := range values {
		if c.String(flag) == v {
			return nil
		}
	}
	return fmt.Errorf("--%s is %q, want %s", flag, c.String(flag), strings.Join(values, " or "))
}

// names returns the values of a flag that is a list with commas and may be repeated.
func names(c *cli.Context, flag string) (list []string) {
	for _, value := range c.StringSlice(flag) {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

func percentage(c *cli.Context, flag string) error {
	if p := c.Float64(flag); !(p >= 0 && p <= 100) {
		return fmt.Errorf("--%s is %v, want a percentage", flag, p)
	}
	return nil
}

// address reads a flag's value: hexadecimal digits, with or without 0x.
func address(flag, text string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("--%s is %q, want a hexadecimal address", flag, text)
	}
	return v, nil
}

// prefixMap parses OLD=NEW; OLD ends at the first "=", as in GCC.
func prefixMap(args []string) ([]srcmap.Prefix, error) {
	var all []srcmap.Prefix
	for _, arg := range args {
		old, replacement, ok := strings.Cut(arg, "=")
		if !ok || old == "" {
			return nil, fmt.Errorf("--prefix-map is %q, want OLD=NEW", arg)
		}
		all = append(all, srcmap.Prefix{Old: old, New: replacement})
	}
	return all, nil
}

func checkModuleName(flag, name string) error {
	if strings.ContainsAny(name, `/\`) || !text.IsPrintable(name) || name != strings.TrimSpace(name) {
		return fmt.Errorf("--%s is %q, want the name of a file without its folder", flag, name)
	}
	return nil
}

// notInput keeps an input from being overwritten.
func notInput(output string, inputs ...string) error {
	target, err := os.Stat(output)
	if err != nil {
		return nil // a missing file cannot be an input
	}
	for _, in := range inputs {
		if st, err := os.Stat(in); err == nil && os.SameFile(st, target) {
			return fmt.Errorf("--output is %s, which is an input", output)
		}
	}
	return nil
}

// parseSize reads a number of bytes.
func parseSize(text string) (int64, error) {
	shift := 10 * (1 + strings.IndexByte("KMGT", text[len(text)-1]))
	if shift > 0 {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > (1<<63-1)>>shift {
		return 0, errUnit
	}
	return int64(n) << shift, nil
}

var errUnit = errors.New("no number with a unit")
