package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/lint/check"
)

// List returns a line for each rule, under its family.
func List() string { return list(func(*Rule) bool { return true }) }

func list(wanted func(*Rule) bool) string {
	var b strings.Builder
	for _, family := range check.Families {
		rules := slices.DeleteFunc(rulesOf(family), func(r *Rule) bool { return !wanted(r) })
		if len(rules) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", family.Name, family.Title)
		for _, r := range rules {
			fmt.Fprintf(&b, "  %s %-8v %s\n", r.ID, r.Severity, r.Title)
		}
	}
	return b.String()
}

func rulesOf(family check.Family) (rules []*Rule) {
	for _, r := range Rules() {
		if r.Family() == family {
			rules = append(rules, r)
		}
	}
	return rules
}

// ExplainAll returns the documentation of the rule that a word names, or, if it stands for several,
// their list; ok is false if it stands for none.
func ExplainAll(word string) (text string, ok bool) {
	prefix, err := RulePrefix(word)
	if err != nil {
		return "", false
	}
	if rule := RuleByID(prefix); rule != nil {
		return explain(rule), true
	}
	return list(func(r *Rule) bool { return strings.HasPrefix(r.ID, prefix) }) + "\n--explain ID describes one of them.\n", true
}

// explain returns the documentation of a rule as text.
func explain(r *Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\n\n", r.ID, r.Title, strings.TrimSpace(r.Doc))
	fmt.Fprintf(&b, "Severity       %v\nFamily         %s: %s\nSpecification  %s\n", r.Severity, r.Family().Name, r.Family().Title, r.Spec)
	if len(r.Cites) > 0 {
		fmt.Fprintf(&b, "Seen in        %s\n", strings.Join(r.Cites, ", "))
	}
	fmt.Fprintf(&b, "Since          symtool %s\n", r.Since)
	for _, example := range examplesOf(r) {
		fmt.Fprintf(&b, "\n%s\n\n%s", example.title, indented(example.text))
	}
	return b.String()
}

// example formats a symbol file with or without a finding of the rule.
type example struct{ title, text string }

func examplesOf(r *Rule) (list []example) {
	if r.Bad != "" {
		where := "about the file as a whole"
		if r.At > 0 {
			where = fmt.Sprintf("at line %d", r.At)
		}
		list = append(list, example{fmt.Sprintf("A file with this finding, %s:", where), r.Bad})
	}
	if r.Good != "" {
		list = append(list, example{"A file without:", r.Good})
	}
	return list
}

// maxExampleLine is the length, in bytes, beyond which a line of an example is cut: rules about
// length have long examples.
const maxExampleLine = 120

// indented is an example in its lines, with what does not print escaped.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) > maxExampleLine {
			line = fmt.Sprintf("%s... (%d bytes)", line[:maxExampleLine], len(line))
		}
		quoted := fmt.Sprintf("%q", line)
		fmt.Fprintf(&b, "    %s\n", strings.ReplaceAll(strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`), `\\`, `\`))
	}
	return b.String()
}

// Page returns the documentation of all rules in Markdown.
func Page() string {
	var b strings.Builder
	b.WriteString("# The rules of symtool lint\n\n")
	b.WriteString("Made by `symtool lint --docs` from the rules themselves, whose examples are run as their tests.\n\n")
	b.WriteString("Severities: an *error* makes readers refuse the file, lose a part of it or answer wrongly; with a *warning* they cope, or something is missing; a *note* is worth knowing.\n")
	for _, family := range check.Families {
		rules := rulesOf(family)
		if len(rules) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s: %s\n\n| rule | severity | |\n|---|---|---|\n", family.Name, family.Title)
		for _, r := range rules {
			fmt.Fprintf(&b, "| [%s](#%s) | %v | %s |\n", r.ID, strings.ToLower(r.ID), r.Severity, r.Title)
		}
		for _, r := range rules {
			section(&b, r)
		}
	}
	return b.String()
}

// section writes a rule's part of the page.
func section(b *strings.Builder, r *Rule) {
	fmt.Fprintf(b, "\n### %s\n\n**%s** (%v, since %s)\n\n%s\n\nSpecification: %s.", r.ID, r.Title, r.Severity, r.Since, strings.TrimSpace(r.Doc), r.Spec)
	if len(r.Cites) > 0 {
		fmt.Fprintf(b, " Seen in %s.", strings.Join(r.Cites, ", "))
	}
	b.WriteString("\n")
	for _, example := range examplesOf(r) {
		fmt.Fprintf(b, "\n%s\n\n%s", example.title, indented(example.text))
	}
}
