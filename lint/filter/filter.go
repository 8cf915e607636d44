// Package filter removes findings that a project's configuration suppresses or its baseline contains,
// and changes severities. Package lint/config reads both from files.
package filter

import (
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// Filter changes the severities of findings and drops those that a configuration suppresses or a
// baseline contains. One Filter serves all files of a run and may be used concurrently; its
// results for a file do not depend on the others.
type Filter struct {
	config       *Config
	suppressions []Suppression // of the configuration
	baseline     *Baseline
	today        string // "2026-01-31"; "" if nothing expires

	mu         sync.Mutex
	files      int
	suppressed []int               // number of findings, by suppression
	matched    []int               // number of files that the pattern matches, by suppression
	names      map[string]bool     // base names of the files
	unread     []string            // files that were not read to their end
	seen       map[baselineKey]int // findings in the baseline; for each, the largest number in one file
	record     *Baseline           // nil if findings are not recorded
}

// New returns a filter for a configuration and a baseline, either of which may be nil.
func New(c *Config, b *Baseline) *Filter {
	if c == nil {
		c = &Config{}
	}
	f := &Filter{config: c, suppressions: slices.Clone(c.Suppressions), baseline: b, names: map[string]bool{}, seen: map[baselineKey]int{}}
	for i := range f.suppressions {
		f.suppressions[i].glob = globRegexp(f.suppressions[i].File)
	}
	f.suppressed, f.matched = make([]int, len(f.suppressions)), make([]int, len(f.suppressions))
	return f
}

// Today sets the date at which suppressions expire. It must be called before files are checked;
// otherwise none expires.
func (f *Filter) Today(t time.Time) { f.today = t.Format(time.DateOnly) }

// expired reports whether a suppression's last day has passed.
func (f *Filter) expired(s *Suppression) bool { return s.Expires != "" && s.Expires < f.today }

// Record makes the filter record all findings, including known ones, for Recorded. It must be called
// before files are checked.
func (f *Filter) Record() { f.record = NewBaseline("") }

// Recorded returns a baseline of all findings since Record.
func (f *Filter) Recorded() *Baseline { return f.record }

// Applied is a suppression and its effect.
type Applied struct {
	*Suppression
	Findings int // number of findings removed
	Files    int // number of files that its pattern matched
}

// Applied returns the effect of each suppression, in the order of the configuration.
func (f *Filter) Applied() []Applied {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Applied, len(f.suppressions))
	for i := range list {
		list[i] = Applied{&f.suppressions[i], f.suppressed[i], f.matched[i]}
	}
	return list
}

// File is the filter's state for one file. It decides which findings of the file count.
type File struct {
	Suppressed int // number of findings removed by the configuration
	Known      int // number of findings removed by the baseline

	filter     *Filter
	name       string // base name of the file
	applies    []int  // suppressions whose pattern matches
	suppressed []int  // number of findings, by suppression
	matched    map[int]*matched
	seen       map[baselineKey]int
	record     *Baseline
}

// File begins a file with the given name.
func (f *Filter) File(name string) *File {
	ff := &File{filter: f, name: BaseName(name), matched: map[int]*matched{}, seen: map[baselineKey]int{}}
	if f.record != nil {
		ff.record = NewBaseline("")
	}
	ff.suppressed = make([]int, len(f.suppressions))
	for i := range f.suppressions {
		if s := &f.suppressions[i]; s.matchesFile(name) && !f.expired(s) {
			ff.applies = append(ff.applies, i)
			if s.Function != nil {
				ff.matched[i] = &matched{}
			}
		}
	}
	return ff
}

// BaseName returns the name by which a baseline identifies a file: the last element of its path.
// Folders in a symbol store contain the module's id, which changes with each build.
func BaseName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// Severity returns the severity of a rule's findings.
func (ff *File) Severity(r *finding.Rule) finding.Severity { return ff.filter.config.Severity(r) }

// NeedsWords reports whether Keep needs the text of every finding.
func (ff *File) NeedsWords() bool {
	return len(ff.applies) > 0 || ff.record != nil || ff.filter.baseline != nil
}

// Keep reports whether a finding counts.
func (ff *File) Keep(f *finding.Finding) bool {
	for _, i := range ff.applies {
		if ff.suppresses(i, f) {
			ff.suppressed[i]++
			ff.Suppressed++
			return false
		}
	}
	if ff.record == nil && ff.filter.baseline == nil {
		return true
	}
	key := fingerprintOf(ff.name, f)
	if ff.record != nil {
		ff.record.add(key, f, 1)
	}
	if ff.known(key) {
		ff.Known++
		return false
	}
	return true
}

// known reports whether the baseline contains a finding.
func (ff *File) known(key baselineKey) bool {
	if ff.filter.baseline == nil {
		return false
	}
	for _, k := range []baselineKey{key, key.rest()} {
		if e := ff.filter.baseline.entries[k]; e != nil && ff.seen[k] < e.Count {
			ff.seen[k]++
			return true
		}
	}
	return false
}

// KeepUnseen returns how many of n findings without a text count.
func (ff *File) KeepUnseen(rule *finding.Rule, n int) int {
	key := baselineKey{ff.name, rule.ID, ""}.rest()
	if ff.record != nil {
		ff.record.add(key, nil, n)
	}
	if ff.filter.baseline == nil || ff.filter.baseline.entries[key] == nil {
		return n
	}
	known := max(0, min(n, ff.filter.baseline.entries[key].Count-ff.seen[key]))
	ff.seen[key] += known
	ff.Known += known
	return n - known
}

// Close ends the file, and adds its numbers to the filter's.
func (ff *File) Close() {
	f := ff.filter
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files++
	f.names[ff.name] = true
	for _, i := range ff.applies {
		f.matched[i]++
		f.suppressed[i] += ff.suppressed[i]
	}
	for key, n := range ff.seen {
		f.seen[key] = max(f.seen[key], n)
	}
	if ff.record != nil {
		f.record.merge(ff.record)
	}
}

// Unread records that a file was not read to its end. Suppressions and baseline entries for it may be
// needed although they matched nothing.
func (f *Filter) Unread(file string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread = append(f.unread, file)
}

// matched holds the functions whose names a suppression matches: a bit for each index in the facts,
// instead of their names.
type matched struct{ funcs, publics facts.Bitset }

func (m *matched) has(own finding.Owner) bool {
	if own.Public {
		return m.publics.Has(uint32(own.Index))
	}
	return m.funcs.Has(uint32(own.Index))
}

// See examines the name of a FUNC or PUBLIC record before rules report findings about the record.
// index is the Owner.Index of those findings.
func (ff *File) See(r *symfmt.Record, index int) {
	name := r.Name[:min(len(r.Name), finding.MaxFunction)]
	for i, m := range ff.matched {
		switch {
		case !ff.filter.suppressions[i].Function.Match(name):
		case r.Kind == symfmt.KindFunc:
			m.funcs.Set(uint32(index))
		default:
			m.publics.Set(uint32(index))
		}
	}
}

// suppresses reports whether suppression i removes a finding.
func (ff *File) suppresses(i int, f *finding.Finding) bool {
	s := &ff.filter.suppressions[i]
	if s.matches(f) {
		return true
	}
	m := ff.matched[i]
	return m != nil && f.Owner.Line > 0 && s.matchesBesides(f) && m.has(f.Owner)
}
