package formats

import (
	"context"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// readBreakpad reads a symbol file. Damage affects only the damaged records.
func readBreakpad(ctx context.Context, _ *Job, in *Input, use func(*Symbols) error) error {
	r, err := in.Reader()
	if err != nil {
		return err
	}
	result, err := symfmt.Read(ctx, r, symfmt.ReadOptions{File: in.Name, Tolerant: true})
	if err != nil {
		return err
	}
	return use(&Symbols{Module: result.Module, Problems: result.Problems, Dropped: result.Dropped})
}

// breakpadLosses returns the loss of call files, which the old form of INLINE records cannot hold.
func breakpadLosses(c *Job, _ *symfmt.Module) []symfmt.Loss {
	if c.LostCallFiles == 0 {
		return nil
	}
	return []symfmt.Loss{{What: "files of inlined calls", Count: c.LostCallFiles, Why: "the old form of INLINE has none"}}
}

func writeBreakpad(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
	return symfmt.Write(out, m, symfmt.WriteOptions{Jobs: c.Jobs, Passed: c.Passed, CRLF: c.Crlf})
}
