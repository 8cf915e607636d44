package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/elfcore"
)

// dumpFormat is the format of dumps that is to be written, "" if it is none.
// Without --to it is the other one than that of file.
func dumpFormat(c *cli.Context, file string) string {
	if !c.IsSet("to") {
		return walk.OtherFormat(walk.FormatOf(file))
	}
	if to := c.String("to"); slices.Contains(walk.Formats(), to) {
		return to
	}
	return ""
}

// checkDump refuses what is not for dumps, and the other way round.
func checkDump(c *cli.Context, dump bool) error {
	wrong := []string{"sframe-version", "cfi", "address", "add"}
	kind := "--to sframe"
	if !dump {
		wrong, kind = []string{"binaries"}, "--to "+strings.Join(walk.Formats(), " and --to ")
	}
	for _, name := range wrong {
		if c.IsSet(name) {
			return fmt.Errorf("--%s is for %s only", name, kind)
		}
	}
	if slices.Contains(c.StringSlice("binaries"), "") {
		return errors.New("--binaries is empty")
	}
	if c.IsSet("binaries") && walk.FormatOf(c.Args().First()) == walk.Minidump {
		return errors.New("--binaries is for cores, and DUMP is a minidump")
	}
	return nil
}

// runDump converts a dump of a process.
func (c *converter) runDump(ctx context.Context) error {
	o := walk.Options{Core: elfcore.Options{Binaries: c.binaries, Tried: c.tried}}
	d, closer, err := walk.Open(c.file, o)
	if err != nil {
		return inputError(c.file, err)
	}
	defer closer.Close()
	c.tell(d.Problems, statusInput)
	out, err := createOutput(c.output, c.stdout)
	if err != nil {
		return outputError(c.output, err)
	}
	defer out.Abort()
	lost, err := walk.Write(contextWriter{ctx, out}, c.dump, d)
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return outputError(out.Name(), err)
	}
	c.tell(lost, statusFindings)
	if c.verbose {
		c.msgs.printf("symtool: %s: %s, %s, %s of memory", c.file, count(len(d.Threads), "thread"),
			count(len(d.Modules), "module"), count(len(d.Memory.Regions), "region"))
	}
	return &statusError{status: c.status}
}

// tried tells, with --verbose, why a file is not a module's.
func (c *converter) tried(path, why string) {
	if c.verbose {
		c.msgs.printf("symtool: %s: %s", path, why)
	}
}
