package main

import (
	"context"
	"fmt"
	"io"
)

// runFrames converts unwind information.
func (c *converter) runFrames(ctx context.Context, in *input) error {
	u, err := c.readFrames(ctx, in)
	if err != nil {
		return inputError(in.name, err)
	}
	u.name = in.name
	c.reportProblems(in.name, u.damage, statusInput)
	if err := c.lose(in.name, u.left); err != nil {
		return err
	}
	err = c.writeOut(func(out io.Writer) error { return c.to.writeFrames(ctx, &c.formatJob, u, contextWriter{ctx, out}) })
	if err != nil && !c.strict {
		return err
	}
	c.reportProblems(in.name, u.lost, statusFindings)
	if err != nil {
		return err
	}
	if c.verbose {
		c.msgs.printf("symtool: %s: %s, %d left out", in.name, count(len(u.funcs), "function"), len(u.lost))
	}
	return nil
}

func (c *converter) readFrames(ctx context.Context, in *input) (u *unwinding, err error) {
	switch {
	case in.format.frames != nil:
		return in.format.frames(ctx, &c.formatJob, in)
	case in.format.read == nil:
		return nil, fmt.Errorf("%s is not converted to %s", in.format.title, c.to.name)
	}
	err = in.format.read(ctx, &c.formatJob, in, func(s *symbols) (err error) {
		u, err = c.framesOf(s)
		return err
	})
	return u, err
}
