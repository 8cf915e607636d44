package lint

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// GitHub's limits for code scanning: it refuses a file with more runs than 20,
// more results in a run than 25,000 or more than 10 MB of gzip, and shows the first
// 5,000 results by severity. The document has one run, and stays below what it
// shows and, not compressed, below the size.
const (
	sarifResults = 5000
	sarifBytes   = 9 << 20
)

// WriteSARIF writes the results as SARIF 2.1.0. Where findings are many, those of
// one rule in one file become one result with their number, the least severe
// first, until the document is one that GitHub takes.
func WriteSARIF(w io.Writer, r *Results) error {
	all := r.all()
	groups := sarifGroups(all, sarifResults, sarifBytes)
	run := sarif.NewRunWithInformationURI("symtool lint", "https://github.com/symtool/symtool")
	run.WithColumnKind("utf16CodeUnits")
	run.Tool.Driver.WithVersion(cmp.Or(r.Version, "unknown"))
	index := map[string]int{}
	for _, rule := range Rules() {
		if slices.ContainsFunc(all, func(rep *Report) bool { return rep.Counts[rule.ID] > 0 }) {
			index[rule.ID] = len(index)
			run.Tool.Driver.AddRule(sarifRule(rule))
		}
	}
	ok := sarif.NewInvocation().WithExecutionSuccessful(true)
	run.AddInvocation(ok)
	for i := range groups {
		run.AddResult(groups[i].result(index))
	}
	doc := sarif.NewReport().AddRun(run)
	doc.Schema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	if err := doc.PrettyWrite(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func sarifRule(rule *Rule) *sarif.ReportingDescriptor {
	d := sarif.NewRule(rule.ID).WithName(sarifName(rule.Title))
	text := strings.ReplaceAll(rule.Doc, "\n", " ")
	d.WithShortDescription(sarifText(rule.Title)).WithFullDescription(sarifText(rule.Title + ". " + text))
	help := rule.Doc + "\n\nSpecification: " + rule.Spec + "\n"
	markdown := "**" + rule.ID + ": " + rule.Title + "**\n\n" + text + "\n\nSpecification: " + rule.Spec + "\n"
	if len(rule.Cites) > 0 {
		help += "Reported as: " + strings.Join(rule.Cites, ", ") + "\n"
		markdown += "\nReported as: " + strings.Join(rule.Cites, ", ") + "\n"
	}
	d.WithHelp(sarifText(help).WithMarkdown(markdown))
	d.WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(rule.Severity.String()))
	bag := sarif.NewPropertyBag()
	bag.WithTags([]string{rule.Family().Name})
	d.WithProperties(bag)
	return d
}

func sarifText(s string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(s)
}

// sarifName is a title as the name of a rule: "line that is no record" is
// LineThatIsNoRecord.
func sarifName(title string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(title, func(r rune) bool { return r < '0' || '9' < r && r < 'A' || 'Z' < r && r < 'a' || r > 'z' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// sarifGroup is a result: a finding, or all of a rule in a file.
type sarifGroup struct {
	first *Finding
	count int // of findings
	again int // how many results before it have its fingerprint
}

// sarifGroups makes results of the findings: one each, but where a rule has
// findings that are only counted, or there is no room, one for all of a rule in a
// file. Notes lose their own results first, errors last.
func sarifGroups(reports []*Report, maxResults, maxBytes int) []sarifGroup {
	for merged := Note; ; merged++ {
		groups, size := sarifGroupsBelow(reports, merged)
		if merged > Error || len(groups) <= maxResults && size <= maxBytes {
			if len(groups) > maxResults || size > maxBytes {
				groups = sarifCut(groups, maxResults, maxBytes)
			}
			return groups
		}
	}
}

// sarifCut keeps the most severe results when there are too many files.
func sarifCut(groups []sarifGroup, maxResults, maxBytes int) []sarifGroup {
	slices.SortStableFunc(groups, func(a, b sarifGroup) int { return cmp.Compare(b.first.Severity, a.first.Severity) })
	size := 0
	for i := range groups {
		if size += groups[i].size(); i == maxResults || size > maxBytes {
			return groups[:i]
		}
	}
	return groups
}

// sarifGroupsBelow joins the findings of severities below merged.
func sarifGroupsBelow(reports []*Report, merged Severity) (groups []sarifGroup, size int) {
	for _, rep := range reports {
		groups = append(groups, fileGroups(rep, merged)...)
	}
	for i := range groups {
		size += groups[i].size()
	}
	return groups, size
}

func fileGroups(rep *Report, merged Severity) (groups []sarifGroup) {
	at := map[string]int{}   // result of a rule whose findings are joined
	last := map[string]int{} // last result of a rule
	seen := map[string]int{} // results with a fingerprint
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if g, joined := at[f.Rule.ID]; joined {
			groups[g].count++
			continue
		}
		if f.Severity < merged {
			at[f.Rule.ID] = len(groups)
		}
		last[f.Rule.ID] = len(groups)
		print := Fingerprint(f)
		groups = append(groups, sarifGroup{f, 1, seen[print]})
		seen[print]++
	}
	for _, n := range rep.NotKept() {
		if g, ok := last[n.Rule.ID]; ok {
			groups[g].count += n.Count
		}
	}
	return groups
}

// sarifOverhead is about what a result takes besides its texts, in bytes.
const sarifOverhead = 1600

func (g *sarifGroup) size() int {
	return sarifOverhead + 2*(len(g.first.Message)+len(g.first.Function)+len(g.first.File))
}

func (g *sarifGroup) message() string {
	text := printable(g.first.Message)
	if g.count > 1 {
		text += fmt.Sprintf(" (and %d more findings of %s in this file)", g.count-1, g.first.Rule.ID)
	}
	return text
}

func (g *sarifGroup) result(index map[string]int) *sarif.Result {
	f := g.first
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(fileURI(f.File)))
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
	res.WithMessage(sarif.NewTextMessage(g.message())).AddLocation(location)
	res.WithPartialFingerprints(map[string]string{"symtoolLint/v1": fmt.Sprintf("%s:%d", Fingerprint(f), g.again+1)})
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

// fileURI is a path as a reference: relative ones stay so.
func fileURI(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	switch {
	case strings.HasPrefix(file, "/"):
		return (&url.URL{Scheme: "file", Path: file}).String()
	case len(file) > 2 && file[1] == ':' && file[2] == '/':
		return (&url.URL{Scheme: "file", Path: "/" + file}).String()
	}
	return (&url.URL{Path: file}).String()
}
