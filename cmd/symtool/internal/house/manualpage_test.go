package house

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
)

// Manual pages are written in the language of man(7), which groff and mandoc read.

// manualDate is the date of the version. It is fixed so that pages have the same bytes
// whenever they are made.
const manualDate = "2026-11-21"

// manualPage returns the page of a command.
func manualPage(app *cli.App, c *cli.CommandModel) string {
	p := newPage(app.Name+"-"+c.Name, c.Title)
	p.section("SYNOPSIS")
	p.literal(c.Synopsis)
	if c.Text != "" {
		p.section("DESCRIPTION")
		p.paragraphs(c.Text)
	}
	if c.Examples != "" {
		p.section("EXAMPLES")
		p.literal(strings.Split(c.Examples, "\n"))
	}
	if len(c.Flags) > 0 {
		p.section("OPTIONS")
	}
	for i := range c.Flags {
		f := &c.Flags[i]
		p.item(f.Head())
		p.text(f.Text)
	}
	p.environment(c)
	p.section("EXIT STATUS")
	p.exitStatus()
	p.section("SEE ALSO")
	p.raw(".BR " + app.Name + " (1)")
	return p.b.String()
}

// programPage returns the page of the program.
func programPage(app *cli.App, commands []cli.CommandModel) string {
	p := newPage(app.Name, app.Usage)
	p.section("SYNOPSIS")
	p.literal([]string{app.Name + " COMMAND [flags] [operands]"})
	p.section("DESCRIPTION")
	p.text("Flags may stand before and after operands; -- ends them. Each command has a page of its own.")
	for i := range commands {
		p.raw(".TP")
		p.raw(".BR " + app.Name + "\\-" + roff(commands[i].Name) + " (1)")
		p.text(commands[i].Title)
	}
	p.section("EXIT STATUS")
	p.exitStatus()
	return p.b.String()
}

// page is an unfinished manual page.
type page struct{ b strings.Builder }

func newPage(name, title string) *page {
	p := &page{}
	p.raw(`.\" Made from the flags of the program: do not edit.`)
	p.raw(fmt.Sprintf(".TH %s 1 %s %q %q", strings.ToUpper(roff(name)), manualDate, version.Generator, "User Commands"))
	// Words are not hyphenated, and lines are not justified, so that text can be copied from
	// a page unchanged.
	p.raw(".nh")
	p.raw(".ad l")
	p.section("NAME")
	p.text(name + " - " + title)
	return p
}

func (p *page) raw(line string) { p.b.WriteString(line + "\n") }

func (p *page) section(title string) { p.raw(".SH " + title) }

// literal writes lines unchanged.
func (p *page) literal(lines []string) {
	p.raw(".nf")
	for _, line := range lines {
		p.raw(roff(line))
	}
	p.raw(".fi")
}

// paragraphs writes text with empty lines between paragraphs.
func (p *page) paragraphs(text string) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.raw(".PP")
		}
		p.text(paragraph)
	}
}

// Text writes a paragraph; indented lines in it stay as they are.
func (p *page) text(text string) {
	var fill []string
	flush := func() {
		for len(fill) > 0 {
			n, size := 1, len(roff(fill[0]))
			for ; n < len(fill) && size+1+len(roff(fill[n])) <= pageColumns; n++ {
				size += 1 + len(roff(fill[n]))
			}
			p.raw(roff(strings.Join(fill[:n], " ")))
			fill = fill[n:]
		}
	}
	var literal []string
	for _, line := range append(strings.Split(text, "\n"), "") {
		if strings.HasPrefix(line, " ") {
			flush()
			literal = append(literal, line)
			continue
		}
		if len(literal) > 0 {
			p.literal(literal)
			literal = nil
		}
		fill = append(fill, strings.Fields(line)...)
	}
	flush()
}

// pageColumns is the length of lines of filled text.
const pageColumns = 78

// item begins an entry of a list.
func (p *page) item(head string) {
	p.raw(".TP")
	p.raw(`\fB` + roff(head) + `\fR`)
}

func (p *page) environment(c *cli.CommandModel) {
	if len(c.Flags) == 0 {
		return
	}
	p.section("ENVIRONMENT")
	for _, v := range cli.Environment {
		if v.Flag == "" || hasFlag(c, v.Flag) {
			p.item(v.Name)
			p.text(v.Text)
		}
	}
}

// exitStatus writes the exit statuses in the help.
func (p *page) exitStatus() {
	for _, s := range exitStatuses() {
		if s.status == "" {
			p.raw(".PP")
			p.text(s.text)
			continue
		}
		p.item(s.status)
		p.text(s.text)
	}
}

// exitStatusEntry is a status and its meaning, or a text about all statuses without a status.
type exitStatusEntry struct{ status, text string }

// exitStatuses parses the help's text about exit statuses.
func exitStatuses() (all []exitStatusEntry) {
	lines := strings.Split(strings.TrimSpace(cli.ExitStatusHelp), "\n")
	for _, line := range lines[1:] {
		text := strings.TrimSpace(line)
		head, rest, _ := strings.Cut(text, " ")
		switch {
		case strings.HasPrefix(line, "     "):
			last := &all[len(all)-1]
			last.text += " " + text
		case !strings.HasPrefix(line, " "):
			all = append(all, exitStatusEntry{"", text})
		default:
			all = append(all, exitStatusEntry{head, strings.TrimSpace(rest)})
		}
	}
	return all
}

// roff returns text in the form in which it is written in a page. A backslash precedes a
// backslash, and a hyphen that must be copied as one; a zero-width escape precedes a dot or
// an apostrophe that would begin a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		return `\&` + text
	}
	return text
}

// hasFlag reports whether the command has a flag.
func hasFlag(c *cli.CommandModel, flag string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.FlagModel) bool { return f.Name == flag })
}
