package cli

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// permuted returns a program with a flag of each kind.
func permuted() *cli.App {
	return NewApp(nil, io.Discard, NewMessages(io.Discard), func(*Messages) []*cli.Command {
		return []*cli.Command{{Name: "dump", Flags: []cli.Flag{
			OutputFlag(new(string)), JobsFlag(new(int)), VerboseFlag(new(bool)), &cli.BoolFlag{Name: "quiet"}, &cli.StringFlag{Name: "store"}, &cli.StringSliceFlag{Name: "prefix-map"},
		}}, {Name: "version"}}
	})
}

func TestPermute(t *testing.T) {
	app := permuted()
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"dump", "dump --"},
		{"dump a b", "dump -- a b"},
		{"dump a -o b", "dump -o b -- a"},
		{"dump a --output=b c", "dump --output=b -- a c"},
		{"dump -output b a", "dump -output b -- a"},
		{"dump a -j4 b", "dump -j 4 -- a b"},
		{"dump -ob a", "dump -o b -- a"},
		{"dump a -v b --quiet", "dump -v --quiet -- a b"},
		{"dump a -- -v b", "dump -- a -v b"},
		{"dump - -o -", "dump -o - -- -"},
		{"dump -o -- a", "dump -o -- -- a"},
		{"dump a --prefix-map x=y --prefix-map=a=b", "dump --prefix-map x=y --prefix-map=a=b -- a"},
		{"nothing a -o b", "nothing a -o b"},
		{"--version", "--version"},
	} {
		got, err := permute(app, append([]string{"symtool"}, strings.Fields(c.in)...))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if want := append([]string{"symtool"}, strings.Fields(c.want)...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.in, got, want)
		}
	}
}

func TestPermuteErrors(t *testing.T) {
	app := permuted()
	for in, want := range map[string]string{
		"dump a --bogus":    "unknown flag --bogus",
		"dump a --bogus=1":  "unknown flag --bogus",
		"dump -z":           "unknown flag -z",
		"dump -vq":          "unknown flag -vq",
		"dump a -o":         "flag -o needs a value",
		"dump a --store":    "flag --store needs a value",
		"version --verbose": "unknown flag --verbose",
	} {
		_, err := permute(app, append([]string{"symtool"}, strings.Fields(in)...))
		var usage *UsageError
		if !errors.As(err, &usage) || usage.msg != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	for _, in := range []string{"-h", "--help", "dump -h", "dump a --help", "dump -o x -help"} {
		_, err := permute(app, append([]string{"symtool"}, strings.Fields(in)...))
		var help *helpRequest
		if !errors.As(err, &help) || !strings.Contains(help.text, "Usage:") {
			t.Errorf("%s: %v, want the help", in, err)
		}
	}
}
