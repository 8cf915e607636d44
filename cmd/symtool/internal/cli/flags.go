package cli

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
	FormatText = "text"
	FormatJSON = "json"
)

// wordFlag is a flag whose value is one of a few words or, as a list, several of them with commas.
// Help, manual pages and completions name them.
type wordFlag struct {
	cli.DocGenerationFlag
	values []string
	list   bool
}

// Words returns a flag whose value is one of values.
func Words(f cli.DocGenerationFlag, values ...string) cli.Flag { return &wordFlag{f, values, false} }

// WordList returns a flag whose value is a list of values.
func WordList(f cli.DocGenerationFlag, values ...string) cli.Flag { return &wordFlag{f, values, true} }

func OutputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - for standard output"}
}

func JobsFlag() cli.Flag {
	return &cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: "work with `N` threads, 1 to 1024; all processors without it"}
}

func VerboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print all problems, what was written and where"}
}

// MaxJobs is far above any machine: a greater number is a typing error.
const MaxJobs = 1024

// CFISources are the values of --cfi.
var CFISources = map[string]dwarf2sym.CFISource{
	"auto": dwarf2sym.CFIAuto, "dwarf": dwarf2sym.CFIDWARF, "sframe": dwarf2sym.CFISFrame,
}

func CFIFlag(usage string) cli.Flag {
	return Words(&cli.StringFlag{Name: "cfi", Usage: usage, Value: "auto"}, "auto", "dwarf", "sframe")
}

func OneOf(c *cli.Context, flag string, values ...string) error {
	for _, v := range values {
		if c.String(flag) == v {
			return nil
		}
	}
	return fmt.Errorf("--%s is %q, want %s", flag, c.String(flag), strings.Join(values, " or "))
}

// List returns the values of a flag that is a list with commas and may be repeated.
func List(c *cli.Context, flag string) (list []string) {
	for _, value := range c.StringSlice(flag) {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

func Percentage(c *cli.Context, flag string) error {
	if p := c.Float64(flag); !(p >= 0 && p <= 100) {
		return fmt.Errorf("--%s is %v, want a percentage", flag, p)
	}
	return nil
}

// Address reads a flag's value: hexadecimal digits, with or without 0x.
func Address(flag, text string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("--%s is %q, want a hexadecimal address", flag, text)
	}
	return v, nil
}

// PrefixMap parses OLD=NEW; OLD ends at the first "=", as in GCC.
func PrefixMap(args []string) ([]srcmap.Prefix, error) {
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

func CheckModuleName(flag, name string) error {
	if strings.ContainsAny(name, `/\`) || !text.IsPrintable(name) || name != strings.TrimSpace(name) {
		return fmt.Errorf("--%s is %q, want the name of a file without its folder", flag, name)
	}
	return nil
}

// NotInput keeps an input from being overwritten.
func NotInput(output string, inputs ...string) error {
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

// ParseSize reads a number of bytes.
func ParseSize(text string) (int64, error) {
	shift := 10 * (1 + strings.IndexByte("KMGT", text[len(text)-1]))
	if shift > 0 {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n > (1<<63-1)>>shift {
		return 0, ErrUnit
	}
	return int64(n) << shift, nil
}

var ErrUnit = errors.New("no number with a unit")
