package cli

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestRunApp checks that flags have their values on the command line: under each of their
// names, with commas and blanks intact, and the last value if there are several.
func TestRunApp(t *testing.T) {
	var got *cli.Context
	app := &cli.App{Commands: []*cli.Command{{
		Name: "go",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "-"},
			&cli.IntFlag{Name: "jobs", Aliases: []string{"j"}},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}},
			&cli.StringSliceFlag{Name: "dir", KeepSpace: true},
			&cli.Float64Flag{Name: "share"},
			&cli.DurationFlag{Name: "age"},
		},
		Before: func(c *cli.Context) error {
			if c.String("output") == "refused" {
				return errors.New("refused")
			}
			return nil
		},
		Action: func(c *cli.Context) error { got = c; return nil },
	}}, Action: func(c *cli.Context) error { return errors.New("no command") }}

	args := []string{"x", "go", "-o", "a", "-o", "b", "--jobs=3", "-v", "--dir", "p,q", "--dir= r ", "--", "-v", "f,g"}
	if err := runApp(context.Background(), app, args); err != nil {
		t.Fatal(err)
	}
	if got.String("output") != "b" || got.String("o") != "b" || got.Int("j") != 3 || !got.Bool("verbose") {
		t.Errorf("output %q, o %q, jobs %d, verbose %v", got.String("output"), got.String("o"), got.Int("j"), got.Bool("verbose"))
	}
	if want := []string{"p,q", " r "}; !slices.Equal(got.StringSlice("dir"), want) {
		t.Errorf("dir %q, want %q", got.StringSlice("dir"), want)
	}
	if want := []string{"-v", "f,g"}; !slices.Equal(got.Args().Slice(), want) {
		t.Errorf("operands %q, want %q", got.Args().Slice(), want)
	}
	if !got.IsSet("output") || !got.IsSet("jobs") || !got.IsSet("dir") || got.Command.Name != "go" {
		t.Error("flags that were given are not set")
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"x"}, "no command"},
		{[]string{"x", "other"}, "no command"},
		{[]string{"x", "go", "-j", "many"}, `--jobs is "many", want a whole number of at most 18 digits`},
		{[]string{"x", "go", "--verbose=perhaps"}, `--verbose is "perhaps", want true or false`},
		{[]string{"x", "go", "--share", "half"}, `--share is "half", want a number`},
		{[]string{"x", "go", "--age", "old"}, `--age is "old", want a time, such as 90s or 2h`},
		{[]string{"x", "go", "-o", "refused"}, "refused"},
	} {
		if err := runApp(context.Background(), app, c.args); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %s", c.args, err, c.want)
		}
	}

	// A flag that was not given has its default value, even after another call.
	if err := runApp(context.Background(), app, []string{"x", "go"}); err != nil {
		t.Fatal(err)
	}
	if got.IsSet("dir") || got.IsSet("o") || got.String("output") != "-" || got.Args().Present() {
		t.Errorf("dir %q, output %q, operands %q", got.StringSlice("dir"), got.String("output"), got.Args().Slice())
	}
}
