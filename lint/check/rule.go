// Package check defines what lint's rules are made of: a Rule is a value with one function, which
// sees the records of a file through a Pass and reports Findings. Package lint runs the rules.
package check

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/lint/facts"
	"github.com/symtool/symtool/symfmt"
)

// Severity ranks findings.
type Severity uint8

// The severities.
const (
	Note    Severity = iota // worth knowing
	Warning                 // readers cope, or something is missing
	Error                   // readers refuse the file, lose a part, or answer wrongly
)

var severityNames = [...]string{"note", "warning", "error"}

// String returns the severity's name, as outputs show it.
func (s Severity) String() string { return severityNames[s] }

// SeverityByName returns the severity with the given name; ok is false if there is none.
func SeverityByName(name string) (s Severity, ok bool) {
	i := slices.Index(severityNames[:], name)
	return Severity(max(i, 0)), i >= 0
}

// Rule is one check of a symbol file.
type Rule struct {
	ID       string // such as "SYM203": 2 is the family, see Families
	Title    string // what is wrong, in a few words
	Severity Severity
	Since    string   // version of symtool
	Spec     string   // section of the specification, or the reader with the behaviour in question
	Doc      string   // why it matters and what to do, for people
	Cites    []string // reports of the defect: "dump_syms#535"

	// Refused means that rust-minidump rejects the whole file because of a finding,
	// and not only the record.
	Refused bool
	// Misleads means that a finding is a STACK CFI INIT that leads walks astray.
	Misleads bool

	// PerFile means that the rule counts, and reports a file once for each kind:
	// baselines then compare neither message nor function.
	PerFile bool

	// Bad is a symbol file with this finding, at line At, and no other of its family (except SYM702, beside which
	// SYM706 names what is missing). Good is one without the finding. Rules that need a binary have neither.
	Bad, Good string
	At        int
	// With sets the options for checking Bad and Good; may be nil.
	With func(*Options)

	// On lists the kinds of records for which Check's first function is called.
	On []symfmt.Kind
	// Faults restricts the line records among them to those with one of these
	// faults; if empty, it is called for all. Nine in ten records are line
	// records without a fault.
	Faults facts.LineFaults
	// Check begins a run. It returns the functions to call for each record in On and at the end;
	// either may be nil.
	Check func(p *Pass) (record func(*symfmt.Record), end func())
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
	i := slices.IndexFunc(Families, func(f Family) bool { return len(r.ID) > 3 && fmt.Sprint(f.Hundred) == r.ID[3:4] })
	if i < 0 {
		panic("lint: rule " + r.ID + " has no family")
	}
	return Families[i]
}

// Finding is a violation of a rule.
type Finding struct {
	Rule     *Rule
	Severity Severity
	File     string // as given
	Line     int    // from 1; 0 for the file as a whole
	Col      int    // in bytes, from 1; 0 for the whole line
	Message  string // lower case, without the place
	RVA      symfmt.RVA
	HasRVA   bool
	Function string // function that contains it, or ""; see Report.ReadNames

	late      lateness
	owned     bool // owner is known
	owner     Owner
	ownerLine int // line of the owner's record, or 0
}

// Late reports whether the finding was made at the end of the file, when names are gone.
func (f *Finding) Late() bool { return f.late != notLate }

// Owner returns the function of a late finding; ok is false for other findings, and if there is no
// function.
func (f *Finding) Owner() (own Owner, ok bool) { return f.owner, f.owned }

// String formats the finding as one line: "a.sym:12:6: SYM203 error: ...".
func (f *Finding) String() string {
	place := f.File
	if f.Line > 0 {
		place += fmt.Sprintf(":%d", f.Line)
	}
	if f.Col > 0 {
		place += fmt.Sprintf(":%d", f.Col)
	}
	return fmt.Sprintf("%s: %s %v: %s", place, f.Rule.ID, f.Severity, f.Message)
}

// Starts and parts of the rules' examples.
const (
	// Head is the first line of most examples.
	Head = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n"
	// HeadFunc is Head with a FUNC that has a line.
	HeadFunc = Head + "FUNC 1000 40 0 f\n1000 40 1 0\n"
	// Init is call frame information for the function of HeadFunc.
	Init = "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	// Inlined is a FUNC with an INLINE and a line, without the FILE and INLINE_ORIGIN that
	// these refer to.
	Inlined = "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 4\n1000 10 1 0\n"
)
