package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// Messages is the error stream. Each message is one line. Characters that would affect the
// terminal or the reading order are escaped, because names in messages come from other
// people's files.
type Messages struct {
	mu     sync.Mutex
	W      io.Writer
	before func() // clears the progress bar; nil if there is none
	Level  logLevel
	debug  debugInfo
}

// NewMessages returns an error stream that writes to w.
func NewMessages(w io.Writer) *Messages { return &Messages{W: w, Level: logWarn} }

// Printf prints one line. It ignores failures of the error stream, which cannot be reported
// anywhere.
func (m *Messages) Printf(format string, args ...any) {
	if m.Level == logOff {
		return
	}
	_, _ = io.WriteString(m, text.Printable(fmt.Sprintf(format, args...))+"\n")
}

// Warnf is like Printf, for messages that are not errors. It prints nothing below level
// warn.
func (m *Messages) Warnf(format string, args ...any) {
	if m.Level >= logWarn {
		m.Printf(format, args...)
	}
}

// WaitsFor returns a function that prints which thread of a process symtool is waiting for,
// and for how long at most.
func (m *Messages) WaitsFor(process string) func(thread int, state string, limit time.Duration) {
	return func(thread int, state string, limit time.Duration) {
		m.Warnf("%s: waiting up to %v for thread %d to stop: its state is %s", process, limit, thread, state)
	}
}

// setLevel sets the level of what is printed. It must be called before any work begins.
func (m *Messages) setLevel(l logLevel) { m.Level = l }

// Write writes p unchanged.
func (m *Messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before()
	}
	return m.W.Write(p)
}

// Exclusive calls f while nothing else is printed.
func (m *Messages) Exclusive(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// setBefore sets a function to call before anything is printed.
func (m *Messages) setBefore(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// shownProblems is the number of problems of one file that are printed without --verbose. A
// damaged file can have one in each of a million units.
const shownProblems = 10

// ProblemLines prints the first problems of one file, and the number of the others at the
// end.
type ProblemLines struct {
	Msgs *Messages
	All  bool   // print all
	Hint string // follows the number of problems not printed
	N    int
}

// VerboseHint follows the number of problems not printed.
const VerboseHint = ", which --verbose shows"

// Add prints a problem, unless the limit has been reached.
func (l *ProblemLines) Add(line string) {
	if l.N++; l.All || l.N <= shownProblems {
		l.Msgs.Warnf("symtool: %s", line)
	}
}

// End prints how many problems were not printed.
func (l *ProblemLines) End() {
	if !l.All && l.N > shownProblems {
		l.Msgs.Warnf("symtool: and %s%s", text.Count(l.N-shownProblems, "more problem"), l.Hint)
	}
}

// ProblemLine formats a problem of a file, naming the file once.
func ProblemLine(file string, p bin.Problem) string {
	switch {
	case p.Lost == "":
		return Named(file, p.Err)
	case namesFile(p.Err):
		return p.String()
	}
	return file + ": " + p.String()
}

// ReportLines prints the problems of one file, already formatted as lines.
func ReportLines(msgs *Messages, lines []string, verbose bool) {
	out := ProblemLines{Msgs: msgs, All: verbose, Hint: VerboseHint}
	for _, line := range lines {
		out.Add(line)
	}
	out.End()
}
