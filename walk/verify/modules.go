package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
)

// modules lists the modules on the walked stacks.
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

// describe returns what is known about the symbols of a module.
func (v *verifier) describe(i int) Module {
	d := v.result.Dump
	m, known := &d.Modules[i], &v.result.Modules[i]
	x := Module{Name: d.System.OS.Base(m.Path), Addr: walk.Address(m.Addr), DebugID: m.DebugID, CodeID: m.CodeID, Counts: Counts{By: map[string]int{}}}
	x.Allowed = v.limits.allows(x.Name)
	x.Tried = symfmt.TriedLines(known.Tried)
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
		x.Symbols, x.Path = "symbol-file", r.Identity().Path
		if known.Binary {
			x.Symbols = "binary"
		}
	}
	return x
}

// symbolsOf returns a module's symbols, or nil.
func (v *verifier) symbolsOf(i int) resolve.Symbols {
	if i < 0 {
		return nil
	}
	return v.result.Modules[i].Resolver
}

func (v *verifier) module(i int) *Module { return &v.verdict.Modules[v.places[i]] }

func (v *verifier) damage(i int) *damage {
	if v.broken[i] == nil {
		v.broken[i] = &damage{broken: map[int]bool{}}
	}
	return v.broken[i]
}

// judgeModules reports symbols that are missing or belong to another module.
func (v *verifier) judgeModules() {
	for i, place := range v.places {
		if place < 0 {
			continue
		}
		m := &v.verdict.Modules[place]
		x := Finding{Severity: SeverityError, Blame: BlameSymbols, Module: m.Name}
		others := resolve.OtherModules(v.result.Modules[i].Tried)
		switch m.Symbols {
		case "other-id":
			x.Kind, x.Text = KindOtherID, m.named()+" has symbols of another id only"
		case "missing":
			x.Kind, x.Text = KindMissing, m.named()+" has no symbols"
			if m.Error != "" {
				x.Text += " that can be used: " + m.Error
			} else if m.DebugID == "" && m.CodeID == "" {
				x.Blame, x.Text = BlameDump, m.named()+" has no symbols, as the dump does not hold its id"
			}
		case "binary":
			if v.w.SymbolSet().Symbols == nil || v.result.Modules[i].InDump {
				continue // the dump has all of the kernel's own code, which needs no symbol file
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
		if x.Kind == KindOtherID {
			x.brief = x.Text
		}
		x.Text += v.behind(i)
		x.late = true
		if d := v.broken[i]; d != nil {
			x.weight, x.late = len(d.broken)<<32+d.weak, d.first == 0
		}
		if x.Kind == KindOtherID {
			x.Text += " (" + strings.Join(others, "; ") + ")"
		}
		x.ofModule = i + 1
		v.add(nil, nil, x)
	}
}

// named names a module with its id.
func (m *Module) named() string {
	if m.Name == "" {
		return strings.TrimSpace("the module at " + m.Addr.String() + " " + m.DebugID)
	}
	return strings.TrimSpace(m.Name + " " + m.DebugID)
}

// short returns only a module's name.
func (m *Module) short() string {
	if m.Name == "" {
		return m.named()
	}
	return m.Name
}

// behind describes the effects of a module's missing symbols, or returns "".
func (v *verifier) behind(i int) string {
	d := v.broken[i]
	if d == nil || len(d.broken) == 0 && d.weak == 0 {
		return ""
	}
	var list []string
	if n := len(d.broken); n > 0 {
		list = append(list, count(n, "stack is", "stacks are")+" broken after it")
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

// judgeCounts compares the counts with the thresholds. If other findings explain why callers are
// guesses, the findings about the counts follow from the heaviest of them.
func (v *verifier) judgeCounts() {
	c := v.verdict
	blame, culprits, rest := v.culprits()
	after := (*cause)(nil)
	if rest == 0 {
		after = v.heaviest()
	}
	scans := c.CountedScan + v.outside
	if scans > v.limits.MaxScan {
		x := Finding{Severity: SeverityError, Kind: KindScan, Blame: blame, after: after,
			brief: count(scans, "caller", "callers") + " by scanning the stack" + culprits,
			Text:  fmt.Sprintf("%s by scanning the stack, allowed %s %d%s", count(scans, "caller was found", "callers were found"), are(v.limits.MaxScan), v.limits.MaxScan, culprits)}
		v.add(nil, nil, x)
		if after == nil {
			after = &cause{len(c.Findings) - 1, -1}
		}
		culprits = "" // once is enough
	}
	if float64(c.CountedCFI)*100 < v.limits.MinCFI*float64(c.Counted) {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindShare, Blame: blame, after: after,
			brief: fmt.Sprintf("%d of %s by CFI%s", c.CountedCFI, count(c.Counted, "caller frame", "caller frames"), culprits),
			Text:  fmt.Sprintf("%d of %s by CFI, %.1f%%, want at least %g%%%s", c.CountedCFI, count(c.Counted, "caller frame", "caller frames"), percent(c.CountedCFI, c.Counted), v.limits.MinCFI, culprits)})
	}
}

// heaviest returns the first error so far in the order of sortFindings that does not follow from
// another, or nil.
func (v *verifier) heaviest() *cause {
	best := -1
	for i := range v.verdict.Findings {
		x := &v.verdict.Findings[i]
		if x.Severity == SeverityError && x.after == nil && (best < 0 || compareFindings(x, &v.verdict.Findings[best]) < 0) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &cause{best, -1}
}

// maxCulprits is the number of modules that a line names, and maxFunctions the number of
// functions of each.
const (
	maxCulprits  = 2
	maxFunctions = 2
)

// culprits names the modules after which callers are guesses that no finding explains, with the
// reasons; modules after which stacks were lost come first. rest is the number of such callers. The
// blame is on the source that lacks rules after the first of these modules or, if that is
// undecided, on what the heaviest error so far blames.
func (v *verifier) culprits() (blame Blame, text string, rest int) {
	var list []int
	for i, d := range v.broken {
		if d.bare+d.unused > 0 && !v.module(i).Allowed {
			list = append(list, i)
			rest += d.bare + d.unused
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		x, y := v.broken[a], v.broken[b]
		return cmp.Or(cmp.Compare(y.first, x.first), cmp.Compare(y.weak, x.weak), cmp.Compare(a, b))
	})
	for n, i := range list {
		if n == maxCulprits {
			text += fmt.Sprintf("; and after %s", count(len(list)-n, "other module", "other modules"))
			break
		}
		who, why := v.lacks(i)
		if n == 0 {
			blame = who
		}
		text += fmt.Sprintf("%s %d after %s%s", [...]string{":", ";"}[min(n, 1)], v.broken[i].weak, v.module(i).short(), why)
	}
	if v.outside > 0 {
		rest += v.outside
		text += fmt.Sprintf("%s %d after code in no module", [...]string{":", ";"}[min(len(list), 1)], v.outside)
		blame = cmp.Or(blame, BlameDump)
	}
	return cmp.Or(blame, v.mostly(), BlameSymbols), text, rest
}

// lacks returns what is to blame for guessed callers after a module, and the reason.
func (v *verifier) lacks(i int) (Blame, string) {
	m := v.module(i)
	switch {
	case m.Symbols == "missing" || m.Symbols == "other-id":
		return BlameSymbols, ", which has no symbols"
	case v.broken[i] != nil && v.broken[i].unused > 0 && v.broken[i].bare == 0:
		return NoBlame, ""
	case m.Symbols == "binary":
		return BlameBinary, ", whose binary has no rules " + v.where(i)
	case v.result.Modules[i].HasBinary(v.ctx):
		return BlameBinary, ", for which neither the symbol file nor the binary has rules " + v.where(i)
	}
	return BlameSymbols, ", whose symbol file has no rules " + v.where(i)
}

// where names the functions of a module that have no rules.
func (v *verifier) where(i int) string {
	d := v.broken[i]
	if d == nil || len(d.names) == 0 {
		return "there"
	}
	text := "for " + strings.Join(d.names[:min(len(d.names), maxFunctions)], ", ")
	if len(d.names) > maxFunctions {
		text += " and others"
	}
	return text
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
	p := 100 * float64(n) / float64(of)
	if n < of {
		p = min(p, 99.9) // never rounded up to 100
	}
	return p
}

// mostly returns the blame of the heaviest error so far that lost a stack.
func (v *verifier) mostly() Blame {
	if c := v.heaviest(); c != nil && !v.verdict.Findings[c.finding].late {
		return v.verdict.Findings[c.finding].Blame
	}
	return NoBlame
}
