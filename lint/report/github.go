package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
)

// githubShown is the number of annotations of each severity that GitHub shows for a step.
const githubShown = 10

// githubMessage is the approximate limit of a message's length in bytes; GitHub cuts messages over 4 KB.
const githubMessage = 3000

// WriteGitHub writes the results as commands of GitHub Actions, which shows them as annotations. Because GitHub
// shows only 10 of each severity, each rule and file gets one annotation with the number of findings. If there are
// more than 10, each rule gets one with the number of files; if that is still too many, the last one summarises the
// rest. Files that could not be read come first, as errors.
func WriteGitHub(w io.Writer, r *Results) error {
	bw := bufio.NewWriter(w)
	all := r.all()
	for _, severity := range []finding.Severity{finding.Error, finding.Warning, finding.Note} {
		list := r.annotations(all, severity)
		if len(list) > githubShown {
			list = byRuleOnly(list)
		}
		if len(list) > githubShown {
			list = shortened(list)
		}
		for i := range list {
			bw.WriteString(list[i].command(severity))
		}
	}
	s := summarize(all)
	fmt.Fprintf(bw, "%s\n", s.inFiles(r))
	return bw.Flush()
}

// annotation is one or more findings of a rule.
type annotation struct {
	file    string
	line    int
	title   string
	message string
	symbols string // position in the symbol file, if file is a source file
	id      string
	count   int
	files   int
}

// annotations returns an annotation for each rule and file. It points at the source, and its message contains the
// position in the symbol file.
func (r *Results) annotations(reports []*finding.Report, severity finding.Severity) (list []annotation) {
	if severity == finding.Error {
		list = unreadAnnotations(reports)
	}
	for _, rep := range reports {
		for _, c := range rep.ByRule() {
			if c.Severity != severity {
				continue
			}
			a := annotation{file: rep.File, id: c.Rule.ID, title: c.Rule.ID + ": " + c.Rule.Title, count: c.Count, files: 1}
			if i := slices.IndexFunc(rep.Findings, func(f finding.Finding) bool { return f.Rule.ID == c.Rule.ID }); i >= 0 {
				f := &rep.Findings[i]
				at, source := r.place(f)
				if a.file, a.line, a.message = at.file, at.line, f.Message; source {
					a.symbols = symbols(f)
				}
			}
			list = append(list, a)
		}
	}
	return list
}

// unreadID stands for the rule of files that could not be read.
const unreadID = ""

// unreadAnnotations returns an annotation for each file that could not be read.
func unreadAnnotations(reports []*finding.Report) (list []annotation) {
	for _, rep := range reports {
		if text := rep.UnreadText(); text != "" {
			list = append(list, annotation{file: rep.File, id: unreadID, title: "symtool lint", message: text, count: 1, files: 1})
		}
	}
	return list
}

// byRuleOnly joins the annotations of a rule in all files. The one for files that could not be read comes first,
// then those with the most findings.
func byRuleOnly(list []annotation) (joined []annotation) {
	for _, a := range list {
		i := slices.IndexFunc(joined, func(j annotation) bool { return j.id == a.id })
		if i < 0 {
			joined = append(joined, a)
			continue
		}
		joined[i].count += a.count
		joined[i].files++
	}
	slices.SortStableFunc(joined, func(a, b annotation) int {
		if (a.id == unreadID) != (b.id == unreadID) {
			return cmp.Compare(a.id, b.id)
		}
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.id, b.id))
	})
	return joined
}

// shortened keeps as many annotations as GitHub shows; the last one stands for the rest.
func shortened(list []annotation) []annotation {
	rest := annotation{title: "other findings"}
	var ids []string
	for _, a := range list[githubShown-1:] {
		ids = append(ids, fmt.Sprintf("%s (%d)", a.id, a.count))
		rest.count += a.count
	}
	rest.message = fmt.Sprintf("%s of %s", text.Count(rest.count, "more finding"), strings.Join(ids, ", "))
	rest.count = 1
	return append(slices.Clip(list[:githubShown-1]), rest)
}

// githubLevels are GitHub's names of the severities.
var githubLevels = [...]string{"notice", "warning", "error"}

func (a *annotation) command(severity finding.Severity) string {
	message := text.Printable(a.message)
	if len(message) > githubMessage {
		message = strings.ToValidUTF8(message[:githubMessage], "") + "..."
	}
	if a.symbols != "" {
		message += " (" + a.symbols + ")"
	}
	switch {
	case a.files > 1 && a.id == unreadID:
		message += fmt.Sprintf(" (the first of %d files that could not be read)", a.files)
	case a.files > 1:
		message += fmt.Sprintf(" (the first of %d findings of %s in %d files)", a.count, a.id, a.files)
	case a.count > 1:
		message += fmt.Sprintf(" (the first of %d findings of %s in the file)", a.count, a.id)
	}
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+githubProperty(a.file))
		if a.line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", a.line))
		}
	}
	properties = append(properties, "title="+githubProperty(a.title))
	return fmt.Sprintf("::%s %s::%s\n", githubLevels[severity], strings.Join(properties, ","), githubData.Replace(message))
}

// githubData escapes the data of a command, and githubProperty a property. Printable text has no line breaks, but
// its escapes contain percent signs.
var (
	githubData       = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperties = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubProperty(s string) string { return githubProperties.Replace(text.Printable(s)) }
