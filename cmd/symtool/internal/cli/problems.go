package cli

import "github.com/symtool/symtool/internal/bin"

// shownProblems is how many problems of one file are printed without --verbose. A damaged file can
// have one for each of a million units.
const shownProblems = 10

// ProblemLines prints the problems of one file: the first ones, and how many
// more there are.
type ProblemLines struct {
	Msgs *Messages
	All  bool   // print all
	Hint string // behind the number of those that were not printed
	N    int
}

const VerboseHint = ", which --verbose shows"

func (l *ProblemLines) Add(line string) {
	if l.N++; l.All || l.N <= shownProblems {
		l.Msgs.Warnf("symtool: %s", line)
	}
}

func (l *ProblemLines) End() {
	if !l.All && l.N > shownProblems {
		l.Msgs.Warnf("symtool: and %s%s", Count(l.N-shownProblems, "more problem"), l.Hint)
	}
}

// ProblemLine is a problem of a file, which is named once.
func ProblemLine(file string, p bin.Problem) string {
	switch {
	case p.Lost == "":
		return Named(file, p.Err)
	case namesFile(p.Err):
		return p.String()
	}
	return file + ": " + p.String()
}

// ReportLines prints the problems of one file, which are lines already.
func ReportLines(msgs *Messages, lines []string, verbose bool) {
	out := ProblemLines{Msgs: msgs, All: verbose, Hint: VerboseHint}
	for _, line := range lines {
		out.Add(line)
	}
	out.End()
}
