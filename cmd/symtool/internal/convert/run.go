package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
	"github.com/symtool/symtool/walk/dumpfile"
)

// converter is a call of convert.
type converter struct {
	*convertConfig
	formats.Job
	stdout io.Writer

	mapped []srcmap.File // for --map-list
	root   *store.Store  // store of --to-store, once something is written to it
}

func (c *converter) run(ctx context.Context) error {
	if err := c.edit.maps.ReadManifests(); err != nil {
		return err
	}
	if c.store != "" {
		return c.end(c.runStore(ctx))
	}
	var inputs []*formats.Input
	for _, file := range c.files {
		in, err := formats.Open(file, c.from)
		if err != nil {
			return err
		}
		defer in.Close()
		inputs = append(inputs, in)
	}
	if c.to == nil {
		c.to = formats.Named(dumpfile.OtherFormat(inputs[0].Format.Name))
	}
	if err := c.checkPair(inputs); err != nil {
		return cli.Usagef("convert", "%v", err)
	}
	if c.to.Dump {
		return c.end(c.runDump(ctx, inputs[0]))
	}
	c.To = c.to
	return c.end(c.runSymbols(ctx, inputs))
}

// end writes the file of --map-list, and combines its status with err.
func (c *converter) end(err error) error {
	if err == nil {
		err = c.edit.maps.WriteList(c.mapped)
	}
	if err == nil && c.Status != cli.StatusOK {
		return &cli.StatusError{Status: c.Status}
	}
	return err
}

// checkPair checks what depends on both the input format and the output format.
func (c *converter) checkPair(inputs []*formats.Input) error {
	switch {
	case c.to == nil:
		return fmt.Errorf("no --to, and --output has no extension of a format: want --to %s", strings.Join(formats.Names((*formats.Format).Writes), ", "))
	case len(inputs) > 1 && c.to.Dump:
		return fmt.Errorf("%d operands, want one dump", len(inputs))
	case c.compression != nil && !c.to.Packed:
		return fmt.Errorf("--%s is for text, but --to %s writes binary data", c.compression.Name, c.to.Name)
	case c.output == "-" && cli.IsTerminal(c.stdout) && (!c.to.Text || c.compression != nil):
		return errors.New("not writing binary data to a terminal: name a file with --output")
	}
	return c.checkGiven(inputs)
}

// checkGiven returns an error for a flag that applies to none of the formats in use.
func (c *converter) checkGiven(inputs []*formats.Input) error {
	for _, flag := range c.given {
		read, write := formats.OnlyFor(flag)
		if len(read)+len(write) == 0 || slices.Contains(write, c.to.Name) ||
			slices.ContainsFunc(inputs, func(in *formats.Input) bool { return slices.Contains(read, in.Format.Name) }) {
			continue
		}
		var places []string
		if len(write) > 0 {
			places = append(places, "--to "+strings.Join(write, ", "))
		}
		if len(read) > 0 {
			places = append(places, "input in "+strings.Join(read, ", "))
		}
		return fmt.Errorf("--%s is for %s only", flag, strings.Join(places, " and for "))
	}
	return nil
}

// runSymbols converts symbols.
func (c *converter) runSymbols(ctx context.Context, inputs []*formats.Input) error {
	return c.readAll(ctx, inputs, nil, func(all []*formats.Symbols) error {
		m, err := c.merge(inputs, all)
		if err != nil {
			return err
		}
		if err := c.changeSome(inputs[0].Name, m); err != nil {
			return err
		}
		if err := c.reportLosses(inputs[0].Name, c.to, m); err != nil {
			return err
		}
		c.Passed, c.Image, c.Name = all[0].Passed, all[0].Image, inputs[0].Name
		return c.writeOut(func(out io.Writer) error { return c.writeSymbols(ctx, c.to, inputs[0].Name, m, out) })
	})
}

// changeSome is like change, but returns an error if no records for code are left.
func (c *converter) changeSome(name string, m *symfmt.Module) error {
	if c.to.OnlyRules() {
		return nil // no flags affect rules
	}
	before := m.Kept(nil, codeRecords...)
	c.change(name, m)
	if before > 0 && m.Kept(nil, codeRecords...) == 0 {
		return cli.InputError(name, errors.New("nothing is written: the flags leave out all of its records"))
	}
	return nil
}

// writeSymbols writes the symbols of a file in a format.
func (c *converter) writeSymbols(ctx context.Context, to *formats.Format, name string, m *symfmt.Module, out io.Writer) error {
	w := &formats.InputWriter{W: cli.ContextWriter{Ctx: ctx, W: out}}
	err := c.compressed(w, func(out io.Writer) error { return to.Write(ctx, &c.Job, m, out) })
	return w.Judge(name, to.Name, err)
}

// readAll reads the remaining inputs, those after the ones in all, and calls use. A module is
// valid only during the call of its reader's use, so the calls nest.
func (c *converter) readAll(ctx context.Context, inputs []*formats.Input, all []*formats.Symbols, use func([]*formats.Symbols) error) error {
	if len(all) == len(inputs) {
		return use(all)
	}
	return c.readOne(ctx, inputs[len(all)], func(s *formats.Symbols) error { return c.readAll(ctx, inputs, append(all, s), use) })
}

// readOne reads one input, and reports its damage.
func (c *converter) readOne(ctx context.Context, in *formats.Input, use func(*formats.Symbols) error) error {
	if in.Format.Read == nil {
		return cli.InputError(in.Name, fmt.Errorf("%s is not converted to %s: symtool walk prints its stacks", in.Format.Title, c.to.Name))
	}
	err := in.Format.Read(ctx, &c.Job, in, func(s *formats.Symbols) error {
		c.ReportProblems(in.Name, s.Problems, cli.StatusInput)
		if s.Dropped > 0 && !c.Quiet {
			c.Msgs.Printf("symtool: %s: and %s", in.Name, text.Count(s.Dropped, "more problem"))
		}
		if len(s.Problems) > 0 {
			if err := c.StrictStatus(cli.StatusInput); err != nil {
				return err
			}
		}
		if s.Module.Kept(nil, codeRecords...) == 0 && len(s.Problems) > 0 {
			return errors.New("nothing is written: none of its records can be used")
		}
		return use(s)
	})
	var known *cli.StatusError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return cli.InputError(in.Name, err)
}

// writeOut writes the output, whole or not at all. A copy of a binary keeps its mode.
func (c *converter) writeOut(write func(io.Writer) error) error {
	out, err := cli.CreateOutput(c.output, c.stdout)
	if err != nil {
		return cli.OutputError(c.output, err)
	}
	defer out.Abort()
	if err := write(out); err != nil {
		var known *cli.StatusError
		if errors.As(err, &known) {
			return err
		}
		return cli.OutputError(out.Name(), err)
	}
	if w, ok := out.(*cli.WholeFile); ok && c.Binary != "" {
		st, err := os.Stat(c.Binary)
		if err == nil {
			err = w.F.Chmod(st.Mode().Perm())
		}
		if err != nil {
			return cli.OutputError(out.Name(), err)
		}
	}
	return cli.OutputError(out.Name(), out.Commit())
}

// reportLosses reports what the format cannot hold. It returns an error with --strict, or if
// nothing is left.
func (c *converter) reportLosses(name string, to *formats.Format, m *symfmt.Module) error {
	var losses []symfmt.Loss
	if to.Losses != nil {
		losses = to.Losses(&c.Job, m)
	}
	err := c.Lose(name, losses)
	advice := ""
	if to.Advice != nil && len(losses) > 0 {
		advice = to.Advice(&c.Job, m)
	}
	if err == nil {
		if err = nothingLeft(to, m, losses); err != nil {
			return cli.InputError(name, appended(err, advice))
		}
	}
	if advice != "" && !c.Quiet {
		c.Msgs.Printf("symtool: %s: %s", name, advice)
	}
	return err
}

// codeRecords lists the kinds of records that describe code.
var codeRecords = []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit}

// nothingLeft returns an error if the module has records about code, but the format can hold
// none of the kinds of records that it exists for.
func nothingLeft(to *formats.Format, m *symfmt.Module, losses []symfmt.Loss) error {
	holds := to.Holds
	if holds == nil {
		holds = codeRecords
	}
	if m.Kept(nil, codeRecords...) == 0 || m.Kept(losses, holds...) > 0 {
		return nil
	}
	var kinds []string
	for _, k := range holds {
		kinds = append(kinds, k.String())
	}
	if m.Kept(nil, holds...) == 0 {
		return fmt.Errorf("nothing is written: it has no %s record, and %s holds little else", strings.Join(kinds, " or "), to.Title)
	}
	return fmt.Errorf("nothing is written: all of its %s records would be lost", strings.Join(kinds, " and "))
}

// appended adds advice to an error.
func appended(err error, advice string) error {
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}

// compressed calls write with a compressing writer if the output is to be compressed, otherwise
// with out.
func (c *converter) compressed(out io.Writer, write func(io.Writer) error) error {
	if c.compression == nil {
		return write(out)
	}
	z, err := c.compression.Writer(out)
	if err != nil {
		return err
	}
	if err := write(z); err != nil {
		return err
	}
	return z.Close()
}
