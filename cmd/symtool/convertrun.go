package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/srcmap"
	"github.com/symtool/symtool/walk/dumpfile"
)

// converter is one call of convert.
type converter struct {
	*convertConfig
	formatJob
	stdout io.Writer

	mapped []srcmap.File // for --map-list
	root   *store.Store  // of --to-store, once something goes there
}

func (c *converter) run(ctx context.Context) error {
	if err := c.edit.maps.readManifests(); err != nil {
		return err
	}
	if c.store != "" {
		return c.end(c.runStore(ctx))
	}
	var inputs []*input
	for _, file := range c.files {
		in, err := openInput(file, c.from)
		if err != nil {
			return err
		}
		defer in.Close()
		inputs = append(inputs, in)
	}
	if c.to == nil {
		c.to = formatNamed(dumpfile.OtherFormat(inputs[0].format.name))
	}
	if err := c.checkPair(inputs); err != nil {
		return usagef("convert", "%v", err)
	}
	switch in := inputs[0]; {
	case c.to.dump:
		return c.end(c.runDump(ctx, in))
	case c.to.writeFrames != nil:
		return c.end(c.runFrames(ctx, in))
	}
	return c.end(c.runSymbols(ctx, inputs))
}

// end writes --map-list, and joins the status with err.
func (c *converter) end(err error) error {
	if err == nil {
		err = c.edit.maps.writeList(c.mapped)
	}
	if err == nil && c.status != statusOK {
		return &statusError{status: c.status}
	}
	return err
}

// checkPair checks what depends on both formats.
func (c *converter) checkPair(inputs []*input) error {
	switch {
	case c.to == nil:
		return fmt.Errorf("no --to, and --output has no extension that tells the format: want --to %s", strings.Join(formatNames((*format).writes), ", "))
	case len(inputs) > 1 && c.to.dump:
		return fmt.Errorf("%d operands, want one dump", len(inputs))
	case c.compression != nil && !c.to.packed:
		return fmt.Errorf("--%s is for text, and --to %s is none", c.compression.Name, c.to.name)
	case c.output == "-" && isTerminal(c.stdout) && (!c.to.text || c.compression != nil):
		return errors.New("no binary data is written to a terminal: name a file with --output")
	}
	return c.checkGiven(inputs)
}

// checkGiven refuses flags that apply to none of the formats in use.
func (c *converter) checkGiven(inputs []*input) error {
	for _, flag := range c.given {
		read, write := onlyFor(flag)
		if len(read)+len(write) == 0 || slices.Contains(write, c.to.name) ||
			slices.ContainsFunc(inputs, func(in *input) bool { return slices.Contains(read, in.format.name) }) {
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
func (c *converter) runSymbols(ctx context.Context, inputs []*input) error {
	return c.readAll(ctx, inputs, nil, func(all []*symbols) error {
		m, err := c.merge(inputs, all)
		if err != nil {
			return err
		}
		if err := c.changeSome(inputs[0].name, m); err != nil {
			return err
		}
		if err := c.reportLosses(inputs[0].name, c.to, m); err != nil {
			return err
		}
		c.passed = all[0].passed
		return c.writeOut(func(out io.Writer) error { return c.writeSymbols(ctx, c.to, inputs[0].name, m, out) })
	})
}

// changeSome is change with an error if nothing is left.
func (c *converter) changeSome(name string, m *symfmt.Module) error {
	before := m.Kept(nil, codeRecords...)
	c.change(name, m)
	if before > 0 && m.Kept(nil, codeRecords...) == 0 {
		return inputError(name, errors.New("nothing is written: the flags leave out all of its records"))
	}
	return nil
}

// writeSymbols writes the symbols of a file in a format.
func (c *converter) writeSymbols(ctx context.Context, to *format, name string, m *symfmt.Module, out io.Writer) error {
	w := &inputWriter{w: contextWriter{ctx, out}}
	err := c.compressed(w, func(out io.Writer) error { return to.write(ctx, &c.formatJob, m, out) })
	return w.judge(name, to.name, err)
}

// readAll reads the inputs after those that all has. A module is valid only within the call that
// passed it, so the calls nest.
func (c *converter) readAll(ctx context.Context, inputs []*input, all []*symbols, use func([]*symbols) error) error {
	if len(all) == len(inputs) {
		return use(all)
	}
	return c.readOne(ctx, inputs[len(all)], func(s *symbols) error { return c.readAll(ctx, inputs, append(all, s), use) })
}

// readOne reads one input, and reports its damage.
func (c *converter) readOne(ctx context.Context, in *input, use func(*symbols) error) error {
	if in.format.read == nil {
		return inputError(in.name, fmt.Errorf("%s is not converted to %s", in.format.title, c.to.name))
	}
	err := in.format.read(ctx, &c.formatJob, in, func(s *symbols) error {
		c.reportProblems(in.name, s.problems, statusInput)
		if s.dropped > 0 && !c.quiet {
			c.msgs.printf("symtool: %s: and %s", in.name, count(s.dropped, "more problem"))
		}
		if len(s.problems) > 0 {
			if err := c.strictStatus(statusInput); err != nil {
				return err
			}
		}
		if s.module.Kept(nil, codeRecords...) == 0 && len(s.problems) > 0 {
			return errors.New("nothing is written: no record of it can be used")
		}
		return use(s)
	})
	var known *statusError
	if err == nil || errors.As(err, &known) {
		return err
	}
	return inputError(in.name, err)
}

// writeOut writes the output, whole or not at all. A copy of a binary has its mode.
func (c *converter) writeOut(write func(io.Writer) error) error {
	out, err := createOutput(c.output, c.stdout)
	if err != nil {
		return outputError(c.output, err)
	}
	defer out.Abort()
	if err := write(out); err != nil {
		var known *statusError
		if errors.As(err, &known) {
			return err
		}
		return outputError(out.Name(), err)
	}
	if w, ok := out.(*wholeFile); ok && c.binary != "" {
		st, err := os.Stat(c.binary)
		if err == nil {
			err = w.f.Chmod(st.Mode().Perm())
		}
		if err != nil {
			return outputError(out.Name(), err)
		}
	}
	return outputError(out.Name(), out.Commit())
}

// reportLosses reports what a format has no place for. With --strict it is an error, and
// if nothing is left it is one, too.
func (c *converter) reportLosses(name string, to *format, m *symfmt.Module) error {
	var losses []symfmt.Loss
	if to.losses != nil {
		losses = to.losses(&c.formatJob, m)
	}
	err := c.lose(name, losses)
	advice := ""
	if to.advice != nil && len(losses) > 0 {
		advice = to.advice(&c.formatJob, m)
	}
	if err == nil {
		if err = nothingLeft(to, m, losses); err != nil {
			return inputError(name, appended(err, advice))
		}
	}
	if advice != "" && !c.quiet {
		c.msgs.printf("symtool: %s: %s", name, advice)
	}
	return err
}

// codeRecords are the records about code.
var codeRecords = []symfmt.Kind{symfmt.KindFunc, symfmt.KindPublic, symfmt.KindStackWin, symfmt.KindCFIInit}

// nothingLeft returns an error if the module has records and the format can hold none of the kinds
// that it is for.
func nothingLeft(to *format, m *symfmt.Module, losses []symfmt.Loss) error {
	holds := to.holds
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
		return fmt.Errorf("nothing is written: it has no %s record, and %s holds little else", strings.Join(kinds, " or "), to.title)
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

// compressed calls write with a compressing writer, if the output is to be compressed.
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
