package lint

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	projectURL  = "https://github.com/symtool/symtool"
	rulesURL    = projectURL + "/blob/main/golden/lint/rules.md"
)

// sourceRoot is SARIF's custom name for the folder that relative paths begin at.
const sourceRoot = "%SRCROOT%"

// WriteSARIF writes the results as SARIF 2.1.0. Where findings are many, those of
// one rule in one file become one result with their number, the least severe
// first, until the document is one that GitHub takes. A file that could not be read
// is a notification of the invocation, which then was not successful.
func WriteSARIF(w io.Writer, r *Results) error {
	all := r.all()
	run := sarif.NewRunWithInformationURI("symtool lint", projectURL)
	run.WithColumnKind("utf16CodeUnits")
	run.NewlineSequences = nil // the default
	run.Tool.Driver.WithVersion(cmp.Or(r.Version, "unknown"))
	index := map[string]int{}
	for _, rule := range sarifRules(r, all) {
		index[rule.ID] = len(index)
		run.Tool.Driver.AddRule(sarifRule(rule))
	}
	run.AddInvocation(sarifInvocation(all))
	for _, group := range sarifGroups(all, sarifResults, sarifBytes) {
		run.AddResult(group.result(index))
	}
	run.OriginalUriBaseIds = map[string]sarif.ArtifactLocation{
		sourceRoot: {Index: -1, Description: sarif.NewTextMessage("The folder in which symtool lint was called.")},
	}
	doc := sarif.NewReport().AddRun(run)
	doc.Schema = sarifSchema
	return writeLean(w, doc)
}

// sarifRules are the rules that were checked, whether they found something or not:
// what GitHub knows of a tool's rules does not change with the files. Those about
// lint itself are there where they found something.
func sarifRules(r *Results, all []*Report) (list []*Rule) {
	checked := r.rules()
	for _, rule := range Rules() {
		own := rule.Family().Name == "lint"
		if !own && slices.Contains(checked, rule) || slices.ContainsFunc(all, func(rep *Report) bool { return rep.Counts[rule.ID] > 0 }) {
			list = append(list, rule)
		}
	}
	return list
}

// sarifInvocation tells whether all files were read to their end.
func sarifInvocation(all []*Report) *sarif.Invocation {
	call := sarif.NewInvocation().WithExecutionSuccessful(true)
	for _, rep := range all {
		if rep.Unread() == nil {
			continue
		}
		call.WithExecutionSuccessful(false)
		place := sarif.NewPhysicalLocation().WithArtifactLocation(sarifFile(rep.File))
		note := sarif.NewNotification().WithLevel("error").WithMessage(sarif.NewTextMessage(rep.UnreadText()))
		note.AddLocation(sarif.NewLocation().WithPhysicalLocation(place))
		call.AddToolExecutionNotification(note)
	}
	return call
}

// sarifDescription is how long GitHub takes a description to be, in characters.
const sarifDescription = 1024

func sarifRule(rule *Rule) *sarif.ReportingDescriptor {
	d := sarif.NewRule(rule.ID).WithName(sarifName(rule.Title))
	text := strings.ReplaceAll(rule.Doc, "\n", " ")
	d.WithShortDescription(sarifText(rule.Title)).WithFullDescription(sarifText(shortText(rule.Title+". "+text, sarifDescription)))
	help := rule.Doc + "\n\nSpecification: " + rule.Spec + "\n"
	markdown := "**" + rule.ID + ": " + rule.Title + "**\n\n" + text + "\n\nSpecification: " + rule.Spec + "\n"
	if len(rule.Cites) > 0 {
		help += "Reported as: " + strings.Join(rule.Cites, ", ") + "\n"
		markdown += "\nReported as: " + strings.Join(rule.Cites, ", ") + "\n"
	}
	d.WithHelp(sarifText(help).WithMarkdown(markdown))
	d.WithHelpURI(rulesURL + "#" + strings.ToLower(rule.ID))
	d.WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(rule.Severity.String()))
	bag := sarif.NewPropertyBag()
	bag.WithTags([]string{rule.Family().Name})
	bag.Add("problem.severity", sarifProblems[rule.Severity])
	d.WithProperties(bag)
	return d
}

// sarifProblems are GitHub's names of the severities of a rule.
var sarifProblems = [...]string{Note: "recommendation", Warning: "warning", Error: "error"}

// shortText cuts a text to n bytes.
func shortText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("...")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

func sarifText(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

// sarifName is a title as the name of a rule: "line that is no FUNC" is
// LineThatIsNoFunc.
func sarifName(title string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(title, func(r rune) bool { return r < '0' || '9' < r && r < 'A' || 'Z' < r && r < 'a' || r > 'z' }) {
		if word != "a" { // AFile is no name as SARIF wants them
			b.WriteString(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
		}
	}
	return b.String()
}

func (g *sarifGroup) result(index map[string]int) *sarif.Result {
	f := g.first
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarifFile(f.File))
	// GitHub shows no result without a line.
	region := sarif.NewRegion().WithStartLine(max(1, f.Line))
	if f.Line > 0 && f.Col > 0 {
		region.WithStartColumn(f.Col)
	}
	place.WithRegion(region)
	location := sarif.NewLocation().WithPhysicalLocation(place)
	if f.Function != "" {
		logical := sarif.NewLogicalLocation().WithFullyQualifiedName(printable(f.Function)).WithKind("function")
		location.AddLogicalLocation(logical)
	}
	res := sarif.NewRuleResult(f.Rule.ID).WithRuleIndex(index[f.Rule.ID]).WithLevel(f.Severity.String())
	res.Kind = "" // "fail" is the default
	res.WithMessage(sarif.NewTextMessage(g.message())).AddLocation(location)
	// GitHub knows a result again by primaryLocationLineHash alone; where that is
	// missing, its upload makes one of the text of the line, which changes with
	// every address.
	print := fmt.Sprintf("%s:%d", Fingerprint(f), g.again+1)
	res.WithPartialFingerprints(map[string]string{"primaryLocationLineHash": print, "symtoolLint/v1": print})
	if g.count > 1 {
		res.WithOccurrenceCount(g.count)
	}
	if f.HasRVA {
		bag := sarif.NewPropertyBag()
		bag.Add("address", fmt.Sprintf("0x%x", uint64(f.RVA)))
		res.WithProperties(bag)
	}
	return res
}

// sarifFile is the place of a file: relative paths are below the source root.
func sarifFile(file string) *sarif.ArtifactLocation {
	uri := fileURI(file)
	place := sarif.NewSimpleArtifactLocation(uri)
	if !strings.HasPrefix(uri, "file:") {
		place.WithURIBaseID(sourceRoot)
	}
	return place
}

// fileURI is a path as a reference: relative ones stay so, without "./" in front.
func fileURI(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	switch {
	case strings.HasPrefix(file, "/"):
		return (&url.URL{Scheme: "file", Path: path.Clean(file)}).String()
	case len(file) > 2 && file[1] == ':' && file[2] == '/':
		return (&url.URL{Scheme: "file", Path: "/" + path.Clean(file)}).String()
	}
	return (&url.URL{Path: path.Clean(file)}).String()
}
