package dwarf2sym_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// aboutDebug matches the names and descriptions of options that may change debug information, line tables or call frame
// information.
var aboutDebug = regexp.MustCompile(`(?i)debug|dwarf|line.?table|line (number|info)|discriminator|pseudo.?probe|\bdwo\b|-dbg-|\bcfi\b|unwind|prefix-map|compilation dir|linkage.name`)

// listedOption is an option as a compiler lists it.
type listedOption struct {
	name, about string
	passed      bool // an option after -mllvm, where names starting with g are not about debug information
}

// concerns reports whether the table must have the option.
func (o listedOption) concerns() bool {
	return !o.passed && strings.HasPrefix(o.name, "-g") || aboutDebug.MatchString(o.name+" "+o.about)
}

// Every option of clang and gcc that concerns debug information has a row with a build or a reason, and no row has an
// option that the compilers do not list.
func TestOracleOptionNames(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		name   string
		rows   []optionRow
		listed []listedOption
	}{
		{"clang", optionsClang, slices.Concat(clangOptions(t), llvmOptions(t))},
		{"gcc", optionsGCC, gccOptions(t)},
	} {
		if len(c.listed) < 1000 {
			t.Errorf("%s lists %d options", c.name, len(c.listed))
		}
		for _, o := range c.listed {
			if o.concerns() && !slices.ContainsFunc(c.rows, func(r optionRow) bool { return r.has(o.name) }) {
				t.Errorf("%s %s is in no row: %s", c.name, o.name, o.about)
			}
		}
		for _, r := range c.rows {
			r.check(t, c.listed)
		}
	}
}

// has reports whether the row covers the option.
func (r *optionRow) has(name string) bool {
	return slices.ContainsFunc(strings.Fields(r.names), func(pattern string) bool { return matches(pattern, name) })
}

// matches reports whether name matches a pattern in which * stands for any text.
func matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	rest, ok := strings.CutPrefix(name, parts[0])
	for i, part := range parts[1:] {
		if last := i == len(parts)-2; last {
			return ok && strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if !ok || at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return ok && rest == ""
}

// check reports names of a row that are not listed, or that have neither a build nor a reason.
func (r *optionRow) check(t *testing.T, listed []listedOption) {
	t.Helper()
	for _, pattern := range strings.Fields(r.names) {
		if !slices.ContainsFunc(listed, func(o listedOption) bool { return matches(pattern, o.name) }) {
			t.Errorf("the compiler lists no %s", pattern)
		}
		inBuild := slices.ContainsFunc(r.builds, func(flags string) bool {
			return slices.ContainsFunc(strings.Fields(flags), func(flag string) bool { return flag == pattern || flagOf(flag, pattern) })
		})
		if !inBuild && r.why == "" {
			t.Errorf("%s has neither a build nor a reason", pattern)
		}
	}
}

// flagOf reports whether a flag sets an option, or negates it.
func flagOf(flag, option string) bool {
	option, _, _ = strings.Cut(option, "*")
	option, _, _ = strings.Cut(option, "<")
	if stem := strings.TrimSuffix(option, "="); stem != option || option == "-gdwarf-" {
		return strings.HasPrefix(flag, option) || strings.Contains(flag, ","+option)
	}
	opposite := strings.Replace(strings.Replace(option, "-f", "-fno-", 1), "-g", "-gno-", 1)
	return flag == opposite || strings.HasPrefix(flag, option+"=") || strings.HasSuffix(flag, ","+option)
}

// clangOptions returns all options of clang's driver. Completion lists even those without help.
func clangOptions(t *testing.T) (all []listedOption) {
	tool := testenv.Tool(t, clang)
	for _, prefix := range []string{"-", "--"} {
		for line := range strings.Lines(string(run(t, tool, "--autocomplete="+prefix))) {
			name, about, _ := strings.Cut(strings.TrimSpace(line), "\t")
			all = append(all, listedOption{name: name, about: about})
		}
	}
	return all
}

// llvmOption matches a line of LLVM's help: "  --name=<value>    - What it does".
var llvmOption = regexp.MustCompile(`(?m)^  +-{1,2}([a-zA-Z][^ =\[]*)(=\S*)? +- (.*)$`)

// llvmOptions returns the options for -mllvm.
func llvmOptions(t *testing.T) (all []listedOption) {
	text := run(t, testenv.Tool(t, clang), "-x", "c", "-c", "/dev/null", "-o", "/dev/null", "-mllvm", "--help-hidden")
	for _, m := range llvmOption.FindAllSubmatch(text, -1) {
		name := "-" + string(m[1])
		if len(m[2]) > 0 {
			name += "="
		}
		all = append(all, listedOption{name: name, about: string(m[3]), passed: true})
	}
	return all
}

// gccOption matches a line of gcc's help and the lines that go on with it.
var gccOption = regexp.MustCompile(`(?m)^  (-\S+)(.*(?:\n {10,}.*)*)$`)

// gccOptions returns the options of gcc's classes.
func gccOptions(t *testing.T) (all []listedOption) {
	tool := testenv.Tool(t, gcc)
	for _, class := range []string{"common", "optimizers", "target", "c", "c++", "undocumented"} {
		for _, m := range gccOption.FindAllSubmatch(run(t, tool, "--help="+class), -1) {
			all = append(all, listedOption{name: string(m[1]), about: strings.Join(strings.Fields(string(m[2])), " ")})
		}
	}
	return all
}
