package main

import "github.com/symtool/symtool/internal/bin"

// shownProblems is how many problems of one file are printed without --verbose. A damaged file can
// have one for each of a million units.
const shownProblems = 10

// problemLines prints the problems of one file: the first ones, and how many
// more there are.
type problemLines struct {
	msgs *messages
	all  bool   // print all
	hint string // behind the number of those that were not printed
	n    int
}

const verboseHint = ", which --verbose shows"

func (l *problemLines) add(line string) {
	if l.n++; l.all || l.n <= shownProblems {
		l.msgs.warnf("symtool: %s", line)
	}
}

func (l *problemLines) end() {
	if !l.all && l.n > shownProblems {
		l.msgs.warnf("symtool: and %s%s", count(l.n-shownProblems, "more problem"), l.hint)
	}
}

// problemLine is a problem of a file, which is named once.
func problemLine(file string, p bin.Problem) string {
	switch {
	case p.Lost == "":
		return named(file, p.Err)
	case namesFile(p.Err):
		return p.String()
	}
	return file + ": " + p.String()
}

// reportLines prints the problems of one file, which are lines already.
func reportLines(msgs *messages, lines []string, verbose bool) {
	out := problemLines{msgs: msgs, all: verbose, hint: verboseHint}
	for _, line := range lines {
		out.add(line)
	}
	out.end()
}
