package resolve

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// bareTemplates returns the program of templates without a symbol table, as the tools prefer symbols to the names of
// functions.
func bareTemplates(t *testing.T) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "bare")
	ask(t, nil, testenv.Tool(t, "objcopy"), "--wildcard", "--strip-symbol=*", testenv.Templates(t), bare)
	return bare
}

func ask(t *testing.T, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, stderr.Bytes())
	}
	return out
}

// TestOracleAnswers compares the answers from a symbol file with other tools' answers from
// the binary, at every address where a line or an inlined function begins, and at the one
// after it.
func TestOracleAnswers(t *testing.T) {
	testenv.Oracle(t)
	bare := bareTemplates(t)
	m, text := dumpOf(t, testenv.Templates(t), false)
	r := openFile(t, writeFile(t, "x.sym", text))
	var addrs []symfmt.RVA
	for i := range m.Funcs {
		for _, rva := range functionEdges(&m.Funcs[i]) {
			if holds(m.Funcs[i].RVA, m.Funcs[i].Size, rva) {
				addrs = append(addrs, rva)
			}
		}
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	each := 100 // elfutils takes 15 ms for each address
	if testenv.OracleFull() {
		each = 10
	}
	for _, o := range []struct {
		name  string
		each  int // asks for one address in this many
		rules []answerRule
		ask   func(addrs []uint64) [][]Frame
	}{
		{"llvm-symbolizer-22", 1, nil, func(addrs []uint64) [][]Frame { return framesOf(oracle.LLVM(t, bare, addrs, oracle.Linkage...)) }},
		{"eu-addr2line", each, euRules, func(addrs []uint64) [][]Frame { return framesOf(oracle.EUAddr2line(t, bare, addrs, "-i")) }},
	} {
		t.Run(o.name, func(t *testing.T) {
			var addrs, all = []symfmt.RVA(nil), addrs
			var asked []uint64
			for i := 0; i < len(all); i += o.each {
				addrs, asked = append(addrs, all[i]), append(asked, uint64(all[i]))
			}
			answers := o.ask(asked)
			compareAnswers(t, r, addrs, answers, o.rules)
		})
	}
}

// answerRule describes where a tool's answers differ.
type answerRule struct {
	name, why string
	is        func(d *otherAnswer) bool
}

// otherAnswer is an answer that differs.
type otherAnswer struct {
	got, want []Frame
	// elsewhere reports whether is holds for the frames at another address of the same FUNC.
	elsewhere func(is func(frames []Frame) bool) bool
}

// euRules are differences of elfutils 0.188. LLVM's answers, which are compared at all
// addresses, equal ours there, in agreement with the ranges in the debug information.
var euRules = []answerRule{
	{
		"lambda", "the call operator of a lambda has its name two references away: elfutils gives ??, and none of the functions inlined into it",
		func(d *otherAnswer) bool {
			own := d.got[len(d.got)-1].Function
			return len(d.want) == 1 && d.want[0] == Frame{"??", d.got[0].File, d.got[0].Line, false} && lambdaCall.MatchString(own)
		},
	},
	{
		"inlined-lambda", "elfutils ends the chain at a call operator of a lambda that is inlined",
		func(d *otherAnswer) bool {
			return len(d.want) < len(d.got) && sameFrames(d.got[:len(d.want)], d.want) && lambdaCall.MatchString(d.want[len(d.want)-1].Function)
		},
	},
	{
		"one-more", "of inlined functions whose ranges alternate elfutils chains two, of which neither is in the other: ours are all there, in their order, beside one more",
		func(d *otherAnswer) bool {
			got, extra := d.got, 0
			for _, f := range d.want {
				if len(got) > 0 && sameFrames(got[:1], []Frame{f}) {
					got = got[1:]
				} else {
					extra++
				}
			}
			return len(got) == 0 && extra == 1
		},
	},
	{
		"sibling", "elfutils takes the callers from an inlined function whose ranges do not have the address, where ranges alternate: the innermost function is ours, the others are those at another address of the FUNC",
		func(d *otherAnswer) bool {
			return sameFrames(d.got[:1], d.want[:1]) && d.elsewhere(func(frames []Frame) bool { return sameFrames(frames[1:], d.want[1:]) })
		},
	},
}

// lambdaCall is the mangled name of a lambda's operator().
var lambdaCall = regexp.MustCompile(`^_Z.*UlvE\d*_clEv$`)

// compareAnswers counts the answers that differ, by rule.
func compareAnswers(t *testing.T, r Symbols, addrs []symfmt.RVA, answers [][]Frame, rules []answerRule) {
	t.Helper()
	var at, other Location
	elsewhere := func(is func([]Frame) bool) bool {
		for rva := at.Start; rva < at.Start+symfmt.RVA(at.Size); rva++ {
			if _, err := Find(t.Context(), r, rva, &other); err != nil {
				t.Fatal(err)
			}
			if is(other.Frames) {
				return true
			}
		}
		return false
	}
	frames, unexplained := 0, 0
	counts := map[string]int{}
	for i, rva := range addrs {
		if _, err := Find(t.Context(), r, rva, &at); err != nil {
			t.Fatal(err)
		}
		frames += len(answers[i])
		if sameFrames(at.Frames, answers[i]) {
			continue
		}
		k := slices.IndexFunc(rules, func(rule answerRule) bool {
			return rule.is(&otherAnswer{at.Frames, answers[i], elsewhere})
		})
		if k >= 0 {
			counts[rules[k].name]++
		} else if unexplained++; unexplained <= 5 {
			t.Errorf("%#x:\n%swant\n%s", uint64(rva), frameText(at.Frames), frameText(answers[i]))
		}
	}
	t.Logf("%d addresses, %d frames, %d differ without a rule", len(addrs), frames, unexplained)
	byRule := 0
	for _, rule := range rules {
		t.Logf("rule %s, %d addresses: %s", rule.name, counts[rule.name], rule.why)
		byRule += counts[rule.name]
	}
	if unexplained > 0 || byRule > len(addrs)/20 {
		t.Errorf("of %d answers %d differ by a rule, %d without", len(addrs), byRule, unexplained)
	}
	if len(addrs) < 200 {
		t.Errorf("%d addresses only", len(addrs))
	}
}

var variant = regexp.MustCompile(`([CD])[0-5]E`)

func sameFrames(got, want []Frame) bool {
	if len(got) != len(want) {
		return false
	}
	for i, f := range got {
		if f.File != want[i].File || f.Line != want[i].Line || !sameName(f.Function, want[i].Function) {
			return false
		}
	}
	return true
}

// sameName compares names. For a function without a linkage name in its debug information,
// the tools print the plain name; dump uses the symbol's, or puts the names of the scopes
// in front. If variants of a constructor or destructor share their code, the tools may name
// different ones.
func sameName(got, want string) bool {
	if got == want {
		return true
	}
	if strings.HasPrefix(want, "_Z") {
		return variant.ReplaceAllString(got, "$1") == variant.ReplaceAllString(want, "$1")
	}
	plain, _, _ := strings.Cut(strings.TrimPrefix(want, "~"), "<")
	return strings.HasSuffix(got, "::"+want) || strings.HasPrefix(got, "_Z") &&
		(strings.Contains(got, strconv.Itoa(len(plain))+plain) || strings.HasPrefix(want, "operator"))
}

func frameText(frames []Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "  %s %s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

// framesOf converts answers of other tools.
func framesOf(answers [][]oracle.Frame) [][]Frame {
	all := make([][]Frame, len(answers))
	for i, frames := range answers {
		for _, f := range frames {
			all[i] = append(all[i], Frame{Function: f.Function, File: f.File, Line: uint32(f.Line)})
		}
	}
	return all
}
