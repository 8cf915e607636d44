package walk

import (
	"fmt"
	"strings"

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
		if known.state.symbols.binary {
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
			}
		case "binary":
			if v.w.sources.Symbols == nil {
				continue
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
		if d := v.broken[i]; d != nil {
			x.weight = len(d.broken)<<32 + d.weak
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

// behind tells what a module's lack of symbols did.
func (v *verifier) behind(i int) string {
	d := v.broken[i]
	if d == nil {
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
	if c.CountedScan > v.limits.MaxScan {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindScan, Blame: v.mostly(),
			Text: fmt.Sprintf("%s by scanning the stack, allowed %s %d", count(c.CountedScan, "caller was found", "callers were found"), are(v.limits.MaxScan), v.limits.MaxScan)})
	}
	if float64(c.CountedCFI)*100 < v.limits.MinCFI*float64(c.Counted) {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindShare, Blame: v.mostly(),
			Text: fmt.Sprintf("%d of %d caller frames by CFI, %.1f%%, want at least %g%%", c.CountedCFI, c.Counted, percent(c.CountedCFI, c.Counted), v.limits.MinCFI)})
	}
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

// mostly is the blame of the heaviest error so far; without any the symbols'.
func (v *verifier) mostly() Blame {
	list := append([]Finding(nil), v.verdict.Findings...)
	sortFindings(list)
	if len(list) > 0 && list[0].Severity == SeverityError && list[0].Blame != NoBlame {
		return list[0].Blame
	}
	return BlameSymbols
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
