package verify

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
)

// place returns the location of a finding about a frame: "libfoo.so+0x1234".
func (x *Finding) place() string {
	switch {
	case x.PC == 0:
		return ""
	case x.Module == "":
		return x.PC.String()
	}
	return x.Module + "+" + x.RVA.String()
}

// sentence returns the finding with its location.
func (x *Finding) sentence() string {
	place := x.place()
	if place == "" {
		return x.Text
	}
	if x.Kind == KindRulesDiffer || x.Kind == KindFramePointer {
		place = "rule for " + place
	}
	if x.Function != "" {
		place += " (" + x.Function + ")"
	}
	return place + ": " + x.Text
}

// Errors returns the errors of a verdict, each as one sentence with its location.
func (v *Verdict) Errors() (all []string) {
	for i := range v.Findings {
		if x := &v.Findings[i]; x.Severity == SeverityError {
			all = append(all, x.Kind+": "+x.sentence())
		}
	}
	return all
}

// Write writes a verdict for people. Its last line is the conclusion.
func Write(w io.Writer, v *Verdict) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Verdict on the symbols\n")
	fmt.Fprintf(b, "  stacks: %d, %d of them broken\n", v.Threads, v.Broken)
	derived := ""
	if n := v.Counts.Code; n > 0 {
		derived = fmt.Sprintf(", from instructions %d", n)
	}
	fmt.Fprintf(b, "  caller frames: %d, by CFI %d%s, with scanning %d, by frame pointer %d, by scanning %d\n",
		v.Counts.Callers, v.Counts.CFI, derived, v.Counts.CFIScan, v.Counts.FramePointer, v.Counts.Scan)
	if line := v.Counts.byText(); line != "" {
		fmt.Fprintf(b, "  techniques: %s\n", line)
	}
	fmt.Fprintf(b, "  counted callers: %d of %d by CFI, %.1f%%\n", v.CountedCFI, v.Counted, percent(v.CountedCFI, v.Counted))
	fmt.Fprintf(b, "  rules compared: %d; return addresses after a call: %d, code not available: %d\n", v.Compared, v.Calls, v.UnknownCalls)
	if len(v.Modules) > 0 {
		fmt.Fprintf(b, "Modules\n")
	}
	for i := range v.Modules {
		writeModuleVerdict(b, &v.Modules[i])
	}
	if len(v.Findings) > 0 {
		fmt.Fprintf(b, "Findings\n")
	}
	for i := range v.Findings {
		writeFinding(b, &v.Findings[i])
		for k := range v.Findings[i].Follows {
			writeFollowing(b, &v.Findings[i].Follows[k])
		}
	}
	if v.Omitted > 0 {
		fmt.Fprintf(b, "  and %d more\n", v.Omitted)
	}
	fmt.Fprintf(b, "%s\n", text.Printable(v.Conclusion))
	return b.Flush()
}

// byText lists techniques with their counts, in the order of Technique.
func (c *Counts) byText() string {
	var list []string
	for _, t := range walk.Techniques() {
		if n := c.By[t.String()]; n > 0 {
			list = append(list, fmt.Sprintf("%v %d", t, n))
		}
	}
	return strings.Join(list, ", ")
}

func writeModuleVerdict(b *bufio.Writer, m *Module) {
	fmt.Fprintf(b, "  %s: %s", text.Printable(m.named()), m.Symbols)
	if m.Allowed {
		b.WriteString(" (may be missing)")
	}
	if m.Path != "" {
		fmt.Fprintf(b, " %s", text.Printable(m.Path))
	}
	fmt.Fprintf(b, "; %s, %d with a function", count(m.Frames, "frame", "frames"), m.Functions)
	if m.Publics > 0 {
		fmt.Fprintf(b, " (%d by PUBLIC)", m.Publics)
	}
	fmt.Fprintf(b, "; callers by CFI %d of %d\n", m.Counts.CFI, m.Counts.Callers)
	if m.Symbols == "symbol-file" {
		return
	}
	for _, line := range m.Tried {
		fmt.Fprintf(b, "    tried %s\n", text.Printable(line))
	}
	if m.Error != "" && !slices.Contains(m.Tried, m.Error) {
		fmt.Fprintf(b, "    error %s\n", text.Printable(m.Error))
	}
}

func writeFinding(b *bufio.Writer, x *Finding) {
	fmt.Fprintf(b, "  %s ", x.Severity)
	x.writeTo(b)
}

// writeFollowing writes a finding below the finding that it follows from.
func writeFollowing(b *bufio.Writer, x *Finding) {
	b.WriteString("    so ")
	x.writeTo(b)
}

func (x *Finding) writeTo(b *bufio.Writer) {
	fmt.Fprintf(b, "%s: %s", x.Kind, text.Printable(x.sentence()))
	if x.PC != 0 {
		fmt.Fprintf(b, " [pc %v, thread %d, frame %d]", x.PC, x.Thread, x.Frame)
	}
	if x.Count > 1 {
		fmt.Fprintf(b, " (%d times)", x.Count)
	}
	b.WriteByte('\n')
}
