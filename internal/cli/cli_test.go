package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// called runs a program with a command and tells what its action saw.
func called(args ...string) (string, error) {
	var got string
	app := &App{
		Name:  "prog",
		Flags: []Flag{&BoolFlag{Name: "version"}},
		Action: func(c *Context) error {
			got = fmt.Sprintf("root version=%v args=%q", c.Bool("version"), c.Args())
			return nil
		},
		OnUsageError: func(c *Context, err error) error {
			return fmt.Errorf("command %v: %w", c.Command != nil, err)
		},
		Commands: []*Command{{
			Name: "do",
			Flags: []Flag{
				&StringFlag{Name: "text", Aliases: []string{"t"}, Value: "default"},
				&BoolFlag{Name: "bool", Aliases: []string{"b"}},
				&IntFlag{Name: "int", Aliases: []string{"i"}, Value: 7},
				&Float64Flag{Name: "float", Value: 0.5},
				&StringSliceFlag{Name: "list", Aliases: []string{"l"}},
				&StringSliceFlag{Name: "exact", KeepSpace: true},
			},
			Action: func(c *Context) error {
				got = fmt.Sprintf("%q %v %d %v %q %q given=%v operands=%q", c.String("text"), c.Bool("b"), c.Int("int"), c.Float64("float"),
					c.StringSlice("list"), c.StringSlice("exact"), c.GivenNames(), c.Args())
				if c.IsSet("text") != c.IsSet("t") || c.String("text") != c.String("t") || c.IsSet("nothing") || c.String("bool") != "" {
					return errors.New("names of a flag differ")
				}
				return nil
			},
		}},
	}
	err := app.RunContext(context.Background(), append([]string{"prog"}, args...))
	return got, err
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ args, want, err string }{
		{"", "root version=false args=[]", ""},
		{"--version", "root version=true args=[]", ""},
		{"other x", `root version=false args=["other" "x"]`, ""},
		{"--bogus", "", "command false: flag provided but not defined: -bogus"},
		{"do", `"default" false 7 0.5 [] [] given=[] operands=[]`, ""},
		{"do --text= -b=false x -t y", `"" false 7 0.5 [] [] given=[b bool t text] operands=["x" "-t" "y"]`, ""},
		{"do -t v -b -i 0x10 --float 2e3 -- -t", `"v" true 16 2000 [] [] given=[b bool float i int t text] operands=["-t"]`, ""},
		{"do -l a, --list b", "", "command true: cannot use two forms of the same flag: l list"},
		{"do -l a,b -l _c_ --exact _d_", `"default" false 7 0.5 ["a,b" "c"] [" d "] given=[exact l list] operands=[]`, ""},
		{"do -i x", "", `command true: invalid value "x" for flag -i: parse error`},
		{"do --bool=maybe", "", `command true: invalid boolean value "maybe" for -bool: parse error`},
		{"do --text", "", "command true: flag needs an argument: -text"},
		{"do --help", "", "command true: flag: help requested"},
	} {
		args := strings.Fields(c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "_", " ")
		}
		got, err := called(args...)
		if got != c.want || fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
			t.Errorf("%s:\n got %s, %v\nwant %s, %s", c.args, got, err, c.want, c.err)
		}
	}
}
