package formats

import (
	"bytes"
	"context"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// readBreakpad reads a symbol file; damage costs only the damaged records.
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

// breakpadLosses returns the loss of call files, which INLINE records of the old form cannot hold.
func breakpadLosses(c *Job, _ *symfmt.Module) []symfmt.Loss {
	if c.LostCallFiles == 0 {
		return nil
	}
	return []symfmt.Loss{{What: "files of inlined calls", Count: c.LostCallFiles, Why: "the old form of INLINE has none"}}
}

func writeBreakpad(_ context.Context, c *Job, m *symfmt.Module, out io.Writer) error {
	if c.Crlf {
		out = crlfWriter{out}
	}
	return symfmt.Write(out, m, symfmt.WriteOptions{Jobs: c.Jobs, Passed: c.Passed})
}

// crlfWriter ends lines with CR LF.
type crlfWriter struct{ w io.Writer }

func (c crlfWriter) Write(p []byte) (int, error) {
	if _, err := c.w.Write(bytes.ReplaceAll(p, []byte{'\n'}, []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
