package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	projectURL  = "https://github.com/symtool/symtool"
	rulesURL    = projectURL + "/blob/main/golden/lint/rules.md"
)

// sourceRoot is a custom SARIF name for the folder that relative paths refer to.
const sourceRoot = "%SRCROOT%"

// WriteSARIF writes the results as SARIF 2.1.0. If there are many findings, those of one rule in
// one file are joined into one result with their number, the least severe first, until GitHub
// accepts the document. A file that could not be read becomes a notification of the invocation,
// which then counts as unsuccessful.
func WriteSARIF(w io.Writer, r *Results) error {
	all := r.all()
	index := map[string]int{}
	rules, results := []sarifObject{}, []sarifObject{} // empty, not null: GitHub requires both
	for _, rule := range sarifRules(r, all) {
		index[rule.ID] = len(index)
		rules = append(rules, sarifRule(rule))
	}
	for _, group := range sarifGroups(all, sarifResults, sarifBytes) {
		results = append(results, group.result(r, index))
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(sarifObject{"$schema": sarifSchema, "version": "2.1.0", "runs": []sarifObject{{
		"tool": sarifObject{"driver": sarifObject{
			"name": "symtool lint", "version": cmp.Or(r.Version, "unknown"), "informationUri": projectURL,
			"language": "en-US", "isComprehensive": false, "contents": []string{"localizedData", "nonLocalizedData"},
			"rules": rules,
		}},
		"invocations": []sarifObject{sarifInvocation(all)},
		"results":     results, "columnKind": "utf16CodeUnits", "language": "en-US",
		"originalUriBaseIds": sarifObject{
			sourceRoot: sarifObject{"description": sarifText("The folder in which symtool lint was called.")},
		},
	}}})
}

// sarifObject is an object of the document. It contains only keys that are set: the schema allows
// -1 for a number that is not set, but GitHub requires 0 or more in some places.
type sarifObject map[string]any

func sarifText(s string) sarifObject { return sarifObject{"text": s} }

// sarifRules returns all rules that were checked, including those without findings: what GitHub
// knows about a tool's rules must not change with the files. Rules about lint itself are included
// if they have findings.
func sarifRules(r *Results, all []*finding.Report) (list []*finding.Rule) {
	checked := r.rules()
	for _, rule := range r.known() {
		own := rule.Family().Name == "lint"
		if !own && slices.Contains(checked, rule) || slices.ContainsFunc(all, func(rep *finding.Report) bool { return rep.Counts[rule.ID] > 0 }) {
			list = append(list, rule)
		}
	}
	return list
}

// sarifInvocation reports whether all files were read to their ends.
func sarifInvocation(all []*finding.Report) sarifObject {
	call := sarifObject{"executionSuccessful": true}
	var notes []sarifObject
	for _, rep := range all {
		if rep.Unread() == nil {
			continue
		}
		place := sarifObject{"artifactLocation": sarifFile(rep.File)}
		notes = append(notes, sarifObject{
			"level": "error", "message": sarifText(rep.UnreadText()),
			"locations": []sarifObject{{"physicalLocation": place}},
		})
	}
	if notes != nil {
		call["executionSuccessful"], call["toolExecutionNotifications"] = false, notes
	}
	return call
}

// sarifDescription is the maximum length of a description for GitHub, in characters.
const sarifDescription = 1024

func sarifRule(rule *finding.Rule) sarifObject {
	text := strings.ReplaceAll(rule.Doc, "\n", " ")
	help := rule.Doc + "\n\nSpecification: " + rule.Spec + "\n"
	markdown := "**" + rule.ID + ": " + rule.Title + "**\n\n" + text + "\n\nSpecification: " + rule.Spec + "\n"
	if len(rule.Cites) > 0 {
		help += "Reported as: " + strings.Join(rule.Cites, ", ") + "\n"
		markdown += "\nReported as: " + strings.Join(rule.Cites, ", ") + "\n"
	}
	return sarifObject{
		"id": rule.ID, "name": sarifName(rule.Title), "shortDescription": sarifText(rule.Title),
		"fullDescription":      sarifText(shortText(rule.Title+". "+text, sarifDescription)),
		"help":                 sarifObject{"text": help, "markdown": markdown},
		"helpUri":              rulesURL + "#" + strings.ToLower(rule.ID),
		"defaultConfiguration": sarifObject{"enabled": true, "level": rule.Severity.String()},
		"properties":           sarifObject{"tags": []string{rule.Family().Name}, "problem.severity": sarifProblems[rule.Severity]},
	}
}

// sarifProblems are GitHub's names for the severities of a rule.
var sarifProblems = [...]string{finding.Note: "recommendation", finding.Warning: "warning", finding.Error: "error"}

// shortText cuts a text to at most n bytes.
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

// sarifName converts a title to the name of a rule: "line that is no FUNC" becomes
// LineThatIsNoFunc.
func sarifName(title string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(title, func(r rune) bool { return r < '0' || '9' < r && r < 'A' || 'Z' < r && r < 'a' || r > 'z' }) {
		if word != "a" { // avoid names like AFile
			b.WriteString(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
		}
	}
	return b.String()
}

func (g *sarifGroup) result(r *Results, index map[string]int) sarifObject {
	f := g.first
	inSymbols := sarifPlace(position{f.File, f.Line}, f.Col)
	location := inSymbols
	at, source := r.place(f)
	if source {
		location = sarifPlace(at, 0)
	}
	if f.Function != "" {
		location["logicalLocations"] = []sarifObject{{"fullyQualifiedName": text.Printable(f.Function), "kind": "function"}}
	}
	// GitHub recognises a result only by primaryLocationLineHash. Without it, the upload computes
	// one from the text of the line, which changes with every address.
	print := fmt.Sprintf("%s:%d", filter.Fingerprint(f), g.again+1)
	res := sarifObject{
		"ruleId": f.Rule.ID, "ruleIndex": index[f.Rule.ID], "level": f.Severity.String(), "message": sarifText(g.message()),
		"locations":           []sarifObject{location},
		"partialFingerprints": map[string]string{"primaryLocationLineHash": print, "symtoolLint/v1": print},
	}
	if source {
		inSymbols["message"] = sarifText("the record in the symbol file")
		res["relatedLocations"] = []sarifObject{inSymbols}
	}
	if g.count > 1 {
		res["occurrenceCount"] = g.count
	}
	if f.HasRVA {
		res["properties"] = sarifObject{"address": fmt.Sprintf("0x%x", uint64(f.RVA))}
	}
	return res
}

// sarifPlace returns a location: a line, and a column unless that is 0.
func sarifPlace(p position, column int) sarifObject {
	region := sarifObject{"startLine": max(1, p.line)} // GitHub does not show results without a line
	if p.line > 0 && column > 0 {
		region["startColumn"] = column
	}
	return sarifObject{"physicalLocation": sarifObject{"artifactLocation": sarifFile(p.file), "region": region}}
}

// sarifFile returns the location of a file: relative paths are below the source root.
func sarifFile(file string) sarifObject {
	uri := fileURI(file)
	place := sarifObject{"uri": uri}
	if !strings.HasPrefix(uri, "file:") {
		place["uriBaseId"] = sourceRoot
	}
	return place
}

// fileURI returns a path as a URI reference: relative paths remain relative, without leading "./".
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
