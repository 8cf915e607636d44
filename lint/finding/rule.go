package finding

import (
	"slices"
	"strconv"

	"github.com/symtool/symtool/symfmt"
)

// Severity ranks findings.
type Severity uint8

// The severities.
const (
	Note    Severity = iota // worth knowing
	Warning                 // readers cope, or something is missing
	Error                   // readers reject the file, lose a part of it, or give wrong answers
)

var severityNames = [...]string{"note", "warning", "error"}

// String returns the severity's name, as in outputs.
func (s Severity) String() string { return severityNames[s] }

// SeverityByName returns the severity with the given name; ok is false if there is none.
func SeverityByName(name string) (s Severity, ok bool) {
	i := slices.Index(severityNames[:], name)
	return Severity(max(i, 0)), i >= 0
}

// Rule describes a check of a symbol file.
type Rule struct {
	ID       string // such as "SYM203": 2 is the family, see Families; rules of others have other letters
	Title    string // what is wrong, in a few words
	Severity Severity
	Since    string   // version of symtool
	Spec     string   // section of the specification, or the reader with the behaviour in question
	Doc      string   // why it matters and what to do, for people
	Cites    []string // reports of the defect: "dump_syms#535"

	// Refused means that a finding makes rust-minidump reject the whole file, and not only the record.
	Refused bool
	// Misleads means that a finding is a STACK CFI INIT that leads stack walks astray.
	Misleads bool

	// PerFile means that the rule counts, and reports each kind of problem once per file. Baselines then compare
	// neither message nor function.
	PerFile bool

	// Bad is a symbol file with this finding, at line At, and no other finding of its family, except that
	// SYM702's example also has SYM706, which names what is missing. Good is a file without the finding. Rules
	// that need a binary have neither.
	Bad, Good string
	At        int

	// Check begins the check of a file by a rule of a program's own. It returns the functions to call for each record
	// of a kind in On and at the end of the file; either may be nil. The record is valid during the call. Files are
	// checked concurrently if the program does so: what the functions remember belongs into Check. The rules that
	// lint.Rules returns have no Check: they are implemented in lint.
	Check func(p *Pass) (record func(*symfmt.Record), end func())
	On    []symfmt.Kind
}

// Families are the families of rules, by the first digit of their numbers.
var Families = []Family{
	{1, "grammar", "records: grammar, order, encoding"},
	{2, "references", "numbers of files, origins and the module"},
	{3, "ranges", "functions, lines and inlined calls: ranges, order, overlap"},
	{4, "cfi", "STACK CFI and STACK WIN"},
	{5, "binary", "agreement with the binary"},
	{6, "names", "names of functions, files and modules"},
	{7, "coverage", "how much of the code has call frame information and lines"},
	{8, "variables", "INFO VAR: types, places and scopes of variables"},
	{9, "lint", "about lint itself: suppressions, baselines"},
}

// Family is a group of rules.
type Family struct {
	Hundred int
	Name    string // name that --select and --ignore accept
	Title   string
}

// Family returns the rule's family.
func (r *Rule) Family() Family {
	i := slices.IndexFunc(Families, func(f Family) bool { return len(r.ID) > 3 && strconv.Itoa(f.Hundred) == r.ID[3:4] })
	if i < 0 {
		panic("lint: rule " + r.ID + " has no family")
	}
	return Families[i]
}
