package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// The formats of the summary.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// checker is a flag that checks its value before the command runs.
type checker interface {
	check(c *cli.Context) error
}

// checkFlags checks the flags that were given.
func checkFlags(c *cli.Context, flags []cli.Flag) error {
	for _, f := range flags {
		if f, ok := f.(checker); ok && c.IsSet(f.(cli.Flag).Names()[0]) {
			if err := f.check(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// wordFlag is a flag whose value is one of a few words or a comma-separated list of them. Help,
// manual pages and completions list the words.
type wordFlag struct {
	cli.DocGenerationFlag
	values []string
	list   bool
	others bool // the command accepts and checks other values, too
}

// Words returns a flag whose value is one of values.
func Words(f cli.DocGenerationFlag, values ...string) cli.Flag {
	return &wordFlag{DocGenerationFlag: f, values: values}
}

// WordList returns a flag whose value is a list of values, which the command checks.
func WordList(f cli.DocGenerationFlag, values ...string) cli.Flag {
	return &wordFlag{f, values, true, true}
}

// Hints returns a flag for which completions offer values. The command checks its value.
func Hints(f cli.DocGenerationFlag, values ...string) cli.Flag {
	return &wordFlag{f, values, false, true}
}

func (f *wordFlag) check(c *cli.Context) error {
	name := f.Names()[0]
	value, ok := c.Value(name).(string)
	if !ok || f.others || slices.Contains(f.values, value) {
		return nil
	}
	return fmt.Errorf("--%s is %q, want %s%s", name, value, Choice(f.values), Meant(value, f.values))
}

// Choice formats words for a message: "a, b or c".
func Choice(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// OutputFlag returns --output.
func OutputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, - for standard output"}
}

// maxJobs is far more than any machine needs: a greater number is a typing error.
const maxJobs = 1024

// jobsFlag is --jobs.
type jobsFlag struct{ *cli.IntFlag }

func (jobsFlag) check(c *cli.Context) error {
	if n := c.Int("jobs"); n < 1 || n > maxJobs {
		return fmt.Errorf("--jobs is %d, want 1 to %d", n, maxJobs)
	}
	return nil
}

// JobsFlag returns --jobs with the help of most commands.
func JobsFlag() cli.Flag {
	return JobsFlagOf("use `N` threads, 1 to 1024 (default: as many as processors)")
}

// JobsFlagOf returns --jobs.
func JobsFlagOf(usage string) cli.Flag {
	return jobsFlag{&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}, Usage: usage}}
}

// VerboseFlag returns --verbose.
func VerboseFlag() cli.Flag {
	return &cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "print all problems, and which files were read and written"}
}

// CFISources are the values of --cfi.
var CFISources = map[string]dwarf2sym.CFISource{
	"auto": dwarf2sym.CFIAuto, "dwarf": dwarf2sym.CFIDWARF, "sframe": dwarf2sym.CFISFrame,
}

// CFIFlag returns --cfi.
func CFIFlag(usage string) cli.Flag {
	return Words(&cli.StringFlag{Name: "cfi", Usage: usage, Value: "auto"}, "auto", "dwarf", "sframe")
}

// ArchFlag returns --arch.
func ArchFlag() cli.Flag {
	return &cli.StringFlag{Name: "arch", Usage: "of a universal file of macOS, read the binary for `CPU`: x86_64, arm64,\narm64e"}
}

// List returns the values of a flag that takes comma-separated values and may be repeated.
func List(c *cli.Context, flag string) (list []string) {
	for _, value := range c.StringSlice(flag) {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

// Percentage checks that a flag's value is a percentage.
func Percentage(c *cli.Context, flag string) error {
	if p := c.Float64(flag); !(p >= 0 && p <= 100) {
		return fmt.Errorf("--%s is %v, want a percentage", flag, p)
	}
	return nil
}

// Address parses a flag's value: hexadecimal digits, with or without 0x.
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

// CheckModuleName checks a module's name from a flag.
func CheckModuleName(flag, name string) error {
	if strings.ContainsAny(name, `/\`) || !text.IsPrintable(name) || name != strings.TrimSpace(name) {
		return fmt.Errorf("--%s is %q, want the name of a file without its folder", flag, name)
	}
	return nil
}

// NotInput returns an error if the output would overwrite an input.
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

// ErrUnit is the error for a number without a known unit.
var ErrUnit = errors.New("not a number with a unit")
