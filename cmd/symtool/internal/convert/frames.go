package convert

import (
	"context"
	"fmt"
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/text"
)

// runFrames converts unwind information.
func (c *converter) runFrames(ctx context.Context, in *formats.Input) error {
	u, err := c.readFrames(ctx, in)
	if err != nil {
		return cli.InputError(in.Name, err)
	}
	u.Name = in.Name
	c.ReportProblems(in.Name, u.Damage, cli.StatusInput)
	if err := c.Lose(in.Name, u.Left); err != nil {
		return err
	}
	err = c.writeOut(func(out io.Writer) error {
		return c.to.WriteFrames(ctx, &c.Job, u, cli.ContextWriter{Ctx: ctx, W: out})
	})
	if err != nil && !c.Strict {
		return err
	}
	c.ReportProblems(in.Name, u.Lost, cli.StatusFindings)
	if err != nil {
		return err
	}
	if c.Verbose {
		c.Msgs.Printf("symtool: %s: %s, %d left out", in.Name, text.Count(len(u.Funcs), "function"), len(u.Lost))
	}
	return nil
}

func (c *converter) readFrames(ctx context.Context, in *formats.Input) (u *formats.Unwinding, err error) {
	switch {
	case in.Format.Frames != nil:
		return in.Format.Frames(ctx, &c.Job, in)
	case in.Format.Read == nil:
		return nil, fmt.Errorf("%s is not converted to %s", in.Format.Title, c.to.Name)
	}
	err = in.Format.Read(ctx, &c.Job, in, func(s *formats.Symbols) (err error) {
		u, err = c.FramesOf(s)
		return err
	})
	return u, err
}
