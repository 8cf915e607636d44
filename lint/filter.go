package lint

import (
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Filter changes the severities of findings and drops those that a configuration suppresses or a
// baseline knows. One Filter serves all files of a run, and may be used concurrently; its answer
// for a file does not depend on the others.
type Filter struct {
	configFile   string        // of the configuration, for messages
	suppressions []Suppression // of the configuration
	baseline     *Baseline
	today        string              // "2026-01-31"; "" if nothing expires
	severities   map[string]Severity // by ID, of rules whose severity is changed

	mu         sync.Mutex
	files      int
	suppressed []int               // findings, by suppression
	matched    []int               // files for which the pattern was right, by suppression
	names      map[string]bool     // base names of the files
	unread     []string            // files that were not read to their end
	seen       map[baselineKey]int // findings of the baseline; the most in one file
	record     *Baseline           // nil if none is to be written
}

// NewFilter makes a filter of a configuration and a baseline, which may be nil.
func NewFilter(c *Config, b *Baseline) *Filter {
	f := &Filter{baseline: b, severities: map[string]Severity{}, names: map[string]bool{}, seen: map[baselineKey]int{}}
	if c != nil {
		f.configFile, f.suppressions = c.File, slices.Clone(c.Suppressions)
		for i := range f.suppressions {
			f.suppressions[i].glob = globRegexp(f.suppressions[i].File)
		}
		f.suppressed, f.matched = make([]int, len(c.Suppressions)), make([]int, len(c.Suppressions))
		for _, r := range Rules() {
			if s := c.Severity(r); s != r.Severity {
				f.severities[r.ID] = s
			}
		}
	}
	return f
}

// Today sets the day on which suppressions expire. Call it before files are checked; without it,
// none expires.
func (f *Filter) Today(t time.Time) { f.today = t.Format(time.DateOnly) }

// expired reports whether a suppression's last day is over.
func (f *Filter) expired(s *Suppression) bool { return s.Expires != "" && s.Expires < f.today }

// Record makes the filter keep all findings, known ones too, for Recorded. Call it before files are
// checked.
func (f *Filter) Record() { f.record = NewBaseline("") }

// Recorded returns a baseline of all findings since Record.
func (f *Filter) Recorded() *Baseline { return f.record }

// Applied is a suppression with its effect.
type Applied struct {
	*Suppression
	Findings int // that it took away
	Files    int // for which its pattern was right
}

// Applied returns what each suppression did, in order of the configuration.
func (f *Filter) Applied() []Applied {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]Applied, len(f.suppressions))
	for i := range list {
		list[i] = Applied{&f.suppressions[i], f.suppressed[i], f.matched[i]}
	}
	return list
}

// fileFilter is the filter's state for one file.
type fileFilter struct {
	*Filter
	name       string // base name of the file
	applies    []int  // suppressions whose pattern is right
	suppressed []int  // findings, by suppression
	matched    map[int]*matched
	seen       map[baselineKey]int
	record     *Baseline
}

// file begins a file.
func (f *Filter) file(name string) *fileFilter {
	ff := &fileFilter{Filter: f, name: BaselineName(name), matched: map[int]*matched{}, seen: map[baselineKey]int{}}
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

// BaselineName is the name by which a baseline knows a file. The folders of a symbol
// store have the module's id in them, which changes with each build.
func BaselineName(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

func (f *Filter) severity(r *Rule) Severity {
	if s, ok := f.severities[r.ID]; ok {
		return s
	}
	return r.Severity
}

// wantsWords reports whether the filter needs the text of findings that are otherwise only counted.
func (ff *fileFilter) wantsWords() bool {
	return len(ff.applies) > 0 || ff.record != nil || ff.baseline != nil
}

// keep reports whether a finding stays. One that does not is counted in the report.
func (ff *fileFilter) keep(f *Finding, r *Report) bool {
	for _, i := range ff.applies {
		if ff.suppresses(i, f) {
			ff.suppressed[i]++
			r.Suppressed++
			return false
		}
	}
	if ff.record == nil && ff.baseline == nil {
		return true
	}
	key := fingerprintOf(ff.name, f)
	if ff.record != nil {
		ff.record.add(key, f, 1)
	}
	if ff.known(key) {
		r.Known++
		return false
	}
	return true
}

// known reports whether the baseline has a finding.
func (ff *fileFilter) known(key baselineKey) bool {
	if ff.baseline == nil {
		return false
	}
	for _, k := range []baselineKey{key, key.rest()} {
		if e := ff.baseline.entries[k]; e != nil && ff.seen[k] < e.Count {
			ff.seen[k]++
			return true
		}
	}
	return false
}

// dropped accounts for n findings that are only counted. It returns how many of them are new.
func (ff *fileFilter) dropped(rule *Rule, n int, r *Report) int {
	key := baselineKey{ff.name, rule.ID, ""}.rest()
	if ff.record != nil {
		ff.record.add(key, nil, n)
	}
	if ff.baseline == nil || ff.baseline.entries[key] == nil {
		return n
	}
	known := max(0, min(n, ff.baseline.entries[key].Count-ff.seen[key]))
	ff.seen[key] += known
	r.Known += known
	return n - known
}

// close ends a file.
func (ff *fileFilter) close() {
	f := ff.Filter
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

// Unread records that a file was not read, or not to its end: filter entries for it may be needed
// although they matched nothing.
func (f *Filter) Unread(file string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unread = append(f.unread, file)
}
