package lint

import (
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

// configure reads the configuration and the baseline. Flags override the configuration: --preset
// and --select replace what it has, --ignore adds to it.
func (l *linter) configure(c *cli.Context) error {
	settings, err := readLintFile(c, "config", config.Read)
	if err != nil {
		return err
	}
	baseline, err := readLintFile(c, "baseline", config.ReadBaseline)
	if err != nil {
		return err
	}
	selected, ignored := cli.List(c, "select"), cli.List(c, "ignore")
	preset := c.String("preset")
	if settings != nil {
		if !c.IsSet("preset") {
			preset = settings.Preset
		}
		if !c.IsSet("select") {
			selected = settings.Select
		}
		ignored = append(ignored, settings.Ignore...)
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
	l.options.MinCFI, l.options.MinLines = c.Float64("min-cfi"), c.Float64("min-lines")
	if settings != nil && settings.MinCFI != nil && !c.IsSet("min-cfi") {
		l.options.MinCFI = *settings.MinCFI
	}
	if settings != nil && settings.MinLines != nil && !c.IsSet("min-lines") {
		l.options.MinLines = *settings.MinLines
	}
	l.recordTo = c.String("write-baseline")
	if settings != nil || baseline != nil || l.recordTo != "" {
		l.options.Filter = filter.New(settings, baseline)
		l.options.Filter.Today(time.Now())
	}
	if l.recordTo != "" {
		l.options.Filter.Record()
	}
	return nil
}

// readLintFile reads the configuration or baseline that a flag names; it returns nil if the flag is
// not given.
func readLintFile[T any](c *cli.Context, flag string, read func(io.Reader, string) (*T, error)) (*T, error) {
	name := c.String(flag)
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
