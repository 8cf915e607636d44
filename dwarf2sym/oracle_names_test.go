package dwarf2sym_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// mangled is a name as other tools read it.
type mangled struct {
	raw  string
	gnu  string // by c++filt
	llvm string // by llvm-cxxfilt, without what the two write differently
}

// nameRule says where symtool's interpretation of a mangled name may differ from
// c++filt's.
type nameRule struct {
	name, why string
	same      func(ours string, n *mangled) bool
}

var nameRules = []nameRule{
	{
		name: "inherited-constructor",
		why:  "c++filt names it after the base class (Itanium ABI 5.1.4.3), symtool after its own",
		same: func(_ string, n *mangled) bool { return inheritedConstructor.MatchString(n.raw) },
	},
	{
		name: "closing-brackets",
		why:  "c++filt now and then puts no space between closing angle brackets",
		same: func(ours string, n *mangled) bool { return tight(ours) == tight(n.gnu) },
	},
	{
		name: "llvm-cxxfilt",
		why:  "c++filt does not know the mangling (of C++20's constraints and lists of template parameters, say), or has it wrong: llvm-cxxfilt reads it as symtool does, written otherwise",
		same: func(ours string, n *mangled) bool { return n.llvm == skeleton(ours) },
	},
	{
		name: "local-result",
		why:  "in the name of what a function has inside, llvm-cxxfilt prints the function's result, symtool none, as c++filt; c++filt does not know the mangling",
		same: func(ours string, n *mangled) bool {
			return n.gnu == n.raw && strings.HasPrefix(n.raw, "_ZZ") && strings.HasSuffix(n.llvm, skeleton(ours))
		},
	},
	{
		name: "lambda-argument",
		why:  "c++filt and llvm-cxxfilt count the substitutions behind a lambda otherwise than the compilers do: symtool's parameter is the one in the source",
		same: func(ours string, n *mangled) bool {
			alike := 0
			for alike < min(len(ours), len(n.gnu)) && ours[alike] == n.gnu[alike] {
				alike++
			}
			return strings.Contains(n.raw, "Ul") && numbered.MatchString(ours[:alike])
		},
	},
	{
		name: "dependent-name",
		why:  "a mistake of symtool's demangler: it counts a substitution too many behind a dependent name in clang's form (sr...E, Itanium ABI 5.1.6.1), and so takes a wrong type for a parameter",
		same: func(ours string, n *mangled) bool {
			known := n.gnu == n.raw || skeleton(n.gnu) == n.llvm
			return known && dependentName.MatchString(n.raw) && functionOf(skeleton(ours)) == functionOf(n.llvm)
		},
	},
}

var (
	inheritedConstructor = regexp.MustCompile(`CI[1245]`)
	numbered             = regexp.MustCompile(`#\d+\}`)
	dependentName        = regexp.MustCompile(`sr(St|3std)?[0-9]+[A-Za-z_]+I`)
)

func tight(name string) string { return strings.ReplaceAll(name, "> >", ">>") }

// functionOf returns the identifiers that follow "::" outside all brackets: a function
// and its scopes, without arguments, types and parameters.
func functionOf(skeleton string) string {
	var b strings.Builder
	depth := 0
	for _, r := range skeleton {
		switch {
		case strings.ContainsRune("<([{", r):
			depth++
		case strings.ContainsRune(">)]}", r):
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	words := strings.Split(b.String(), "::")
	return words[len(words)-1]
}

// sameName reports whether symtool's interpretation of a name is c++filt's, or a rule
// explains the difference. In the latter case it returns the rule's name.
func sameName(ours string, n *mangled) (rule string, same bool) {
	if ours == n.gnu {
		return "", true
	}
	if !strings.HasPrefix(n.raw, "_Z") {
		return "", false
	}
	for _, r := range nameRules {
		if r.same(ours, n) {
			return r.name, true
		}
	}
	return "", false
}

// The parts of names that demanglers write in their own ways, each followed by an opening
// parenthesis.
var ownWays = []struct {
	start *regexp.Regexp
	is    string
}{
	{regexp.MustCompile(`^\{lambda\(`), "{}"},
	{regexp.MustCompile(`^'lambda\d*'\(`), "{}"},
	{regexp.MustCompile(`^decltype\(`), "decltype"},
}

var (
	constraint  = regexp.MustCompile(`^requires\b`)
	behindParen = regexp.MustCompile(`^#\d+\}`)
	smallWays   = regexp.MustCompile(`\bauto\b|\{unnamed type#\d+\}|'unnamed\d*'| ?\[friend\]|\bfriend |\(\)\.\.\.`)
)

// skeleton returns a name without spaces, parameters of lambdas, contents of decltype,
// constraints, and anything that only some demanglers write.
func skeleton(name string) string {
	name = smallWays.ReplaceAllString(name, "")
	var b strings.Builder
next:
	for i := 0; i < len(name); {
		if name[i] == 'r' && constraint.MatchString(name[i:]) {
			break
		}
		for _, w := range ownWays {
			rest := strings.Replace(name[i:], "decltype (", "decltype(", 1)
			if at := w.start.FindStringIndex(rest); at != nil {
				b.WriteString(w.is)
				rest = rest[closing(rest, at[1]-1):]
				i = len(name) - len(rest) + len(behindParen.FindString(rest))
				continue next
			}
		}
		if name[i] != ' ' && name[i:min(i+2, len(name))] != ",>" && name[i:min(i+3, len(name))] != ", >" {
			b.WriteByte(name[i])
		}
		i++
	}
	return strings.ReplaceAll(b.String(), "...", "")
}

// closing returns the index after the parenthesis that closes the one at i.
func closing(s string, i int) int {
	for depth := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// readNames runs the other tools on names.
func readNames(t *testing.T, raw []string) map[string]*mangled {
	t.Helper()
	gnu := map[string]string{}
	for _, name := range raw {
		gnu[name] = name
	}
	filter(t, gnu)
	names := make(map[string]*mangled, len(gnu))
	var itanium []string
	for name, text := range gnu {
		names[name] = &mangled{raw: name, gnu: text}
		if strings.HasPrefix(name, "_Z") {
			itanium = append(itanium, name)
		}
	}
	slices.Sort(itanium)
	for i, line := range pipe(t, "llvm-cxxfilt-22", itanium) {
		names[itanium[i]].llvm = skeleton(line)
	}
	return names
}

// pipe sends lines through a program that answers each with one.
func pipe(t *testing.T, tool string, lines []string) []string {
	t.Helper()
	if len(lines) == 0 {
		return nil
	}
	cmd := exec.Command(testenv.Tool(t, tool))
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	out := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(out) != len(lines) {
		t.Fatalf("%s: %d lines for %d names", tool, len(out), len(lines))
	}
	return out
}
