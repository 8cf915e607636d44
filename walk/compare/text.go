package compare

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// Write writes a comparison as text: each thread that differs, with the frames that differ.
func Write(w io.Writer, c *Comparison) error {
	b := bufio.NewWriter(w)
	name := c.Dump
	if name == "" {
		name = "the dump"
	}
	fmt.Fprintf(b, "%s: %s\n", text.Printable(name), c.Frames.String())
	for i := range c.Threads {
		writeThreadCompared(b, &c.Threads[i])
	}
	return b.Flush()
}

func writeThreadCompared(b *bufio.Writer, t *Thread) {
	if !t.Counts.differs() && t.Only == "" {
		return
	}
	if t.Goroutine != 0 {
		fmt.Fprintf(b, "  goroutine %d", t.Goroutine)
	} else {
		fmt.Fprintf(b, "  thread %d", t.ID)
	}
	if t.Name != "" {
		fmt.Fprintf(b, " %s", text.Printable(t.Name))
	}
	if t.Crashed {
		b.WriteString(" (crashed)")
	}
	if t.Only != "" {
		fmt.Fprintf(b, " (in %s only)", strings.ToUpper(t.Only))
	}
	fmt.Fprintf(b, ": %s\n", t.Counts.String())
	for i := range t.Frames {
		fmt.Fprintf(b, "    %s\n", text.Printable(t.Frames[i].String()))
	}
}

// String describes the difference on one line.
func (f *Frame) String() string {
	switch {
	case f.A == nil:
		return fmt.Sprintf("%-7s       B#%d %s, %s", f.Result, f.B.Frame, f.B.text(nil), f.B.Trust)
	case f.B == nil:
		return fmt.Sprintf("%-7s A#%d       %s, %s", f.Result, f.A.Frame, f.A.text(nil), f.A.Trust)
	}
	what := f.What
	line := fmt.Sprintf("%-7s A#%d B#%d", f.Result, f.A.Frame, f.B.Frame)
	if slices.ContainsFunc(what, func(s string) bool { return s != "trust" && s != "sp" }) {
		line += fmt.Sprintf(" %s -> %s", f.A.text(what), f.B.text(what))
	} else {
		line += " " + f.A.text(nil)
	}
	if slices.Contains(what, "sp") {
		line += fmt.Sprintf(", sp %v -> %v", f.A.SP, f.B.SP)
	}
	if slices.Contains(what, "trust") {
		line += fmt.Sprintf(", %s -> %s", f.A.Trust, f.B.Trust)
	}
	return line
}

// text describes a frame, with its inlined functions if these differ.
func (f *Shown) text(what []string) string {
	place := f.Addr.String()
	if f.Module != "" {
		place = f.Module + "+" + f.Offset.String()
	}
	if f.Function != "" {
		place += " " + withPlace(f.Function, f.File, f.Line)
	}
	if slices.Contains(what, "inlines") && len(f.Inlines) > 0 {
		place += " with " + strings.Join(f.Inlines, ", ")
	}
	return place
}

// WriteSummary writes the summary of many comparisons as text.
func WriteSummary(w io.Writer, s *Summary) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s compared, %d differ; %s\n", text.Count(s.Dumps, "dump"), s.Differs, s.Frames.String())
	for _, x := range []struct {
		title string
		names []string
	}{{"differ", s.Changed}, {"in A only", s.OnlyA}, {"in B only", s.OnlyB}} {
		if len(x.names) > 0 {
			fmt.Fprintf(b, "%s:\n", x.title)
		}
		for _, name := range x.names {
			fmt.Fprintf(b, "  %s\n", text.Printable(name))
		}
	}
	return b.Flush()
}
