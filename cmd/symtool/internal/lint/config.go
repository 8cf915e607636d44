package lint

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/config"
	"github.com/symtool/symtool/lint/filter"
)

// settings holds the values of the flags for the rules.
type settings struct {
	config, baseline  string // files
	selected, ignored []string
	preset            string
}

// configure reads the configuration and the baseline. Flags override the configuration: --preset
// and --select replace its values, --ignore adds to them.
func (l *linter) configure(c *cli.Context) error {
	set := &l.settings
	file, err := readLintFile("config", set.config, config.Read)
	if err != nil {
		return err
	}
	baseline, err := readLintFile("baseline", set.baseline, config.ReadBaseline)
	if err != nil {
		return err
	}
	selected, ignored, preset := cli.List(set.selected), cli.List(set.ignored), set.preset
	if file != nil {
		preset = cmp.Or(preset, file.Preset)
		if set.selected == nil {
			selected = file.Select
		}
		ignored = append(ignored, file.Ignore...)
	}
	if p, ok := lint.PresetByName(preset); ok {
		ignored = append(ignored, p.Ignore...)
	}
	if l.options.Rules, err = lint.SelectRules(selected, ignored); err != nil {
		return err
	}
	if len(l.options.Rules) == 0 {
		return fmt.Errorf("--select, --ignore and --preset leave no rules")
	}
	if file != nil && file.MinCFI != nil && !c.IsSet("min-cfi") {
		l.options.MinCFI = *file.MinCFI
	}
	if file != nil && file.MinLines != nil && !c.IsSet("min-lines") {
		l.options.MinLines = *file.MinLines
	}
	if file != nil || baseline != nil || l.recordTo != "" {
		l.options.Filter = filter.New(file, baseline)
		l.options.Filter.Today(time.Now())
	}
	if l.recordTo != "" {
		l.options.Filter.Record()
	}
	return nil
}

// readLintFile reads the configuration or baseline that a flag names; it returns nil if the flag is
// not given.
func readLintFile[T any](flag, name string, read func(io.Reader, string) (*T, error)) (*T, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	var v *T
	if err == nil {
		defer f.Close()
		v, err = read(f, name)
	}
	var unread *fs.PathError
	if errors.As(err, &unread) {
		err = fmt.Errorf("--%s: %s: %w", flag, name, unread.Err)
	}
	if err != nil {
		return nil, &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	return v, nil
}
