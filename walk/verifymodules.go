package walk

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/sorting"
	"github.com/symtool/symtool/resolve"
)

// modules lists the modules that stacks go through.
func (v *verifier) modules() {
	v.broken = map[int]*damage{}
	v.places = make([]int, len(v.result.Modules))
	for i := range v.places {
		v.places[i] = -1
	}
	through := map[int]bool{}
	for i := range v.result.Stacks {
		for k := range v.result.Stacks[i].Frames {
			through[v.result.Stacks[i].Frames[k].Module] = true
		}
	}
	for i := range v.result.Modules {
		if through[i] {
			v.places[i] = len(v.verdict.Modules)
			v.verdict.Modules = append(v.verdict.Modules, v.describe(i))
		}
	}
}

// describe tells what the symbols of a module are.
func (v *verifier) describe(i int) ModuleVerdict {
	d := v.result.Dump
	m, known := &d.Modules[i], &v.result.Modules[i]
	x := ModuleVerdict{Name: d.System.OS.Base(m.Path), Addr: Address(m.Addr), DebugID: m.DebugID, CodeID: m.CodeID, Counts: Counts{By: map[string]int{}}}
	x.Allowed = v.limits.Allows(x.Name)
	x.Tried = known.Tried
	if known.Err != nil {
		x.Error = known.Err.Error()
	}
	r := v.symbolsOf(i)
	switch {
	case r == nil && len(resolve.OtherModules(known.Tried)) > 0:
		x.Symbols = "other-id"
	case r == nil:
		x.Symbols = "missing"
	default:
		x.Symbols, x.Path = "symbol-file", r.Path
		if known.state.symbols.known().binary {
			x.Symbols = "binary"
		}
	}
	return x
}

// symbolsOf returns a module's symbols, nil without.
func (v *verifier) symbolsOf(i int) *resolve.Resolver {
	if i < 0 || v.result.Modules[i].state == nil {
		return nil
	}
	return v.result.Modules[i].state.resolver(v.ctx)
}

func (v *verifier) module(i int) *ModuleVerdict { return &v.verdict.Modules[v.places[i]] }

func (v *verifier) damage(i int) *damage {
	if v.broken[i] == nil {
		v.broken[i] = &damage{broken: map[int]bool{}}
	}
	return v.broken[i]
}

// judgeModules tells of symbols that are missing or another module's.
func (v *verifier) judgeModules() {
	for i, place := range v.places {
		if place < 0 {
			continue
		}
		m := &v.verdict.Modules[place]
		x := Finding{Severity: SeverityError, Blame: BlameSymbols, Module: m.Name}
		others := resolve.OtherModules(m.Tried)
		switch m.Symbols {
		case "other-id":
			x.Kind, x.Text = KindOtherID, m.named()+" has symbols of another id only"
		case "missing":
			x.Kind, x.Text = KindMissing, m.named()+" has no symbols"
			if m.Error != "" {
				x.Text += " that can be used: " + m.Error
			} else if m.DebugID == "" && m.CodeID == "" {
				x.Blame, x.Text = BlameDump, m.named()+" has no symbols, as the dump does not tell its id"
			}
		case "binary":
			if v.w.sources.Symbols == nil || v.result.Modules[i].state.image != nil {
				continue // the kernel's own code, which the dump has whole, needs no symbol file
			}
			x.Severity, x.Kind, x.Text = SeverityWarning, KindUnused, m.named()+" has no symbol file: its binary was used"
			if len(others) > 0 {
				x.Kind, x.Text = KindOtherID, m.named()+" has symbol files of another id only: its binary was used"
			}
		default:
			continue
		}
		if m.Allowed {
			x.Severity = SeverityNote
		}
		x.Text += v.behind(i)
		x.late = true
		if d := v.broken[i]; d != nil {
			x.weight, x.late = len(d.broken)<<32+d.weak, d.first == 0
		}
		if x.Kind == KindOtherID {
			x.Text += " (" + strings.Join(others, "; ") + ")"
		}
		v.add(nil, nil, x)
	}
}

// named names a module with its id.
func (m *ModuleVerdict) named() string {
	if m.Name == "" {
		return strings.TrimSpace("the module at " + m.Addr.String() + " " + m.DebugID)
	}
	return strings.TrimSpace(m.Name + " " + m.DebugID)
}

// short is a module's name alone.
func (m *ModuleVerdict) short() string {
	if m.Name == "" {
		return m.named()
	}
	return m.Name
}

// behind tells what a module's lack of symbols did.
func (v *verifier) behind(i int) string {
	d := v.broken[i]
	if d == nil || len(d.broken) == 0 && d.weak == 0 {
		return ""
	}
	var list []string
	if n := len(d.broken); n > 0 {
		list = append(list, count(n, "stack is", "stacks are")+" broken behind it")
	}
	if d.weak > 0 {
		list = append(list, count(d.weak, "caller is", "callers are")+" a guess")
	}
	return ": " + strings.Join(list, ", ")
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// judgeCounts holds the counts against the thresholds.
func (v *verifier) judgeCounts() {
	c := v.verdict
	blame, culprits := v.culprits()
	if c.CountedScan > v.limits.MaxScan {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindScan, Blame: blame,
			Text: fmt.Sprintf("%s by scanning the stack, allowed %s %d%s", count(c.CountedScan, "caller was found", "callers were found"), are(v.limits.MaxScan), v.limits.MaxScan, culprits)})
		culprits = "" // once is enough
	}
	if float64(c.CountedCFI)*100 < v.limits.MinCFI*float64(c.Counted) {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindShare, Blame: blame,
			Text: fmt.Sprintf("%d of %s by CFI, %.1f%%, want at least %g%%%s", c.CountedCFI, count(c.Counted, "caller frame", "caller frames"), percent(c.CountedCFI, c.Counted), v.limits.MinCFI, culprits)})
	}
}

// maxCulprits is how many modules a line names.
const maxCulprits = 2

// culprits names the modules behind which callers are a guess, those first behind
// which stacks were lost, and tells why, and who is to blame: the heaviest error
// so far, or who has no rules.
func (v *verifier) culprits() (blame Blame, text string) {
	var list []int
	for i, d := range v.broken {
		if d.weak > 0 && !v.module(i).Allowed {
			list = append(list, i)
		}
	}
	sorting.Func(list, func(a, b int) int {
		x, y := v.broken[a], v.broken[b]
		return cmp.Or(cmp.Compare(y.first, x.first), cmp.Compare(y.weak, x.weak), cmp.Compare(a, b))
	})
	blame = v.mostly()
	for n, i := range list {
		if n == maxCulprits {
			return blame, text + fmt.Sprintf("; and behind %s", count(len(list)-n, "other module", "other modules"))
		}
		who, why := v.lacks(i)
		if n == 0 && blame == NoBlame {
			blame = who
		}
		text += fmt.Sprintf("%s %d behind %s%s", [...]string{":", ";"}[min(n, 1)], v.broken[i].weak, v.module(i).short(), why)
	}
	return cmp.Or(blame, BlameSymbols), text
}

// lacks tells whose fault it is that callers behind a module are a guess.
func (v *verifier) lacks(i int) (Blame, string) {
	m, st := v.module(i), v.result.Modules[i].state
	switch {
	case m.Symbols == "missing" || m.Symbols == "other-id":
		return BlameSymbols, ", which has no symbols"
	case v.broken[i].bare == 0:
		return NoBlame, ""
	case m.Symbols == "binary":
		return BlameBinary, ", whose binary has no rules there"
	case st.file(v.ctx) != nil:
		return BlameBinary, ", for which neither the symbol file nor the binary has rules there"
	}
	return BlameSymbols, ", whose symbol file has no rules there"
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func percent(n, of int) float64 {
	if of == 0 {
		return 100
	}
	return 100 * float64(n) / float64(of)
}

// mostly is the blame of the heaviest error so far that lost a stack.
func (v *verifier) mostly() Blame {
	list := append([]Finding(nil), v.verdict.Findings...)
	sortFindings(list)
	if len(list) > 0 && list[0].Severity == SeverityError && !list[0].late {
		return list[0].Blame
	}
	return NoBlame
}

// conclude sorts the findings and writes the conclusion.
func (v *verifier) conclude() {
	c := v.verdict
	sortFindings(c.Findings)
	errs := v.omitted
	for i := range c.Findings {
		if c.Findings[i].Severity == SeverityError {
			errs++
		}
	}
	c.Holds = errs == 0
	switch {
	case c.Holds && c.Counted == 0:
		c.Conclusion = "nothing speaks against the symbols: no stack has a caller behind a module with symbols"
	case c.Holds:
		c.Conclusion = fmt.Sprintf("the symbols hold: %d of %s by CFI", c.CountedCFI, count(c.Counted, "caller frame", "caller frames"))
	default:
		first := &c.Findings[0]
		c.Blame = first.Blame
		who := "not decided"
		if c.Blame != NoBlame {
			who = string(c.Blame) + " to blame"
		}
		c.Conclusion = who + ": " + first.sentence()
		if errs > 1 {
			c.Conclusion += fmt.Sprintf(" (and %s)", count(errs-1, "more error", "more errors"))
		}
	}
}
