package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// The formats of a summary.
const (
	FormatText = "text"
	FormatJSON = "json"
)

// OutputFlag returns --output, standard output by default.
func OutputFlag(to *string, conditions ...Condition) cli.Flag {
	*to = "-"
	return Text("output,o", "write to `FILE`, - for standard output", to, conditions...)
}

// maxJobs is the maximum of --jobs, far more than any machine needs: a greater
// number is a typing error.
const maxJobs = 1024

// JobsFlag returns --jobs with the help of most commands.
func JobsFlag(to *int) cli.Flag {
	return JobsFlagOf("use `N` threads, 1 to 1024 (default: as many as processors)", to)
}

// JobsFlagOf returns --jobs.
func JobsFlagOf(usage string, to *int) cli.Flag {
	return Number("jobs,j", usage, to, Between(1, maxJobs))
}

// VerboseFlag returns --verbose.
func VerboseFlag(to *bool) cli.Flag {
	return Switch("verbose,v", "print all problems, and which files were read and written", to, Without("quiet"))
}

// QuietFlag returns --quiet.
func QuietFlag(to *bool) cli.Flag {
	return Switch("quiet", "print only errors", to)
}

// CFIFlag returns --cfi.
func CFIFlag(usage string, to *dwarf2sym.CFISource, conditions ...Condition) cli.Flag {
	return Where(OneOf("cfi", usage, to, []Word[dwarf2sym.CFISource]{{"auto", dwarf2sym.CFIAuto}, {"dwarf", dwarf2sym.CFIDWARF}, {"sframe", dwarf2sym.CFISFrame}}), conditions...)
}

// ArchFlag returns --arch.
func ArchFlag(to *string) cli.Flag {
	return Text("arch", "of a universal file of macOS, read the binary for `CPU`: x86_64, arm64,\narm64e", to)
}

// DebugDirs returns the folders with separate debug files: named, the values of a flag,
// or else the system's folder, unless hermetic is set.
func DebugDirs(named []string, hermetic bool) []string {
	if named == nil && !hermetic {
		return []string{"/usr/lib/debug"}
	}
	return named
}

// List splits each of values at commas.
func List(values []string) (list []string) {
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			list = append(list, strings.TrimSpace(name))
		}
	}
	return list
}

// PrefixMapFlag returns --prefix-map. OLD ends at the first "=", as in GCC.
func PrefixMapFlag(usage string, to *[]srcmap.Prefix) cli.Flag {
	return ParsedAll("prefix-map", usage, to, func(arg string) (srcmap.Prefix, error) {
		old, replacement, ok := strings.Cut(arg, "=")
		if !ok || old == "" {
			return srcmap.Prefix{}, wanted("OLD=NEW")
		}
		return srcmap.Prefix{Old: old, New: replacement}, nil
	})
}

// ModuleName requires a valid module name, or an empty value.
func ModuleName(c *cli.Context, flag string) error {
	name := c.String(flag)
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
