package symdiff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// compareModule compares MODULE, INFO and the folders of source files.
func (r *Result) compareModule() {
	a, b := r.Old, r.New
	for _, f := range [...]Field{
		{"MODULE operating system", a.OS, b.OS, true},
		{"MODULE architecture", a.CPU, b.CPU, true},
		{"MODULE id", a.ID, b.ID, false},
		{"MODULE name", a.Name, b.Name, false},
	} {
		if f.Old != f.New {
			r.Module = append(r.Module, f)
		}
	}
	old, new := infoValues(a.Infos), infoValues(b.Infos)
	for _, key := range infoKeys(a.Infos, b.Infos) {
		if key == "GENERATOR" && r.Options.IgnoreGenerator {
			continue
		}
		if x, y := old[key], new[key]; x != y {
			r.Module = append(r.Module, Field{"INFO " + key, x, y, false})
		}
	}
	if x, y := a.inlineForm(), b.inlineForm(); x != y && x != noInlines && y != noInlines {
		r.Module = append(r.Module, Field{"INLINE records", x, y, y == oldInlines})
	}
	if !r.Options.IgnorePaths {
		r.comparePaths()
	}
}

// infoKeys returns the keys of both files, in order.
func infoKeys(a, b []symfmt.Info) (keys []string) {
	seen := map[string]bool{}
	for _, in := range slices.Concat(a, b) {
		if !seen[in.Key] {
			keys = append(keys, in.Key)
		}
		seen[in.Key] = true
	}
	return keys
}

// infoValues returns a file's value of each key; several values are separated by "; ".
func infoValues(infos []symfmt.Info) map[string]string {
	values := map[string][]string{}
	for _, in := range infos {
		values[in.Key] = append(values[in.Key], in.Value)
	}
	out := make(map[string]string, len(values))
	for key, v := range values {
		out[key] = strings.Join(v, "; ")
	}
	return out
}

// comparePaths finds renamed folders. It looks at files that are in only one of
// the two outlines, and share all but the first folders with a file of the
// other.
func (r *Result) comparePaths() {
	only := func(o, other *Outline) (names []string) {
		has := map[string]bool{}
		other.Files.each(func(_ uint32, name string) { has[name] = true })
		o.Files.each(func(_ uint32, name string) {
			if !has[name] {
				names = append(names, name)
			}
		})
		slices.Sort(names)
		return slices.Compact(names)
	}
	olds, news := only(r.Old, r.New), only(r.New, r.Old)
	slices.SortFunc(news, fromEnd)
	count := map[[2]string]int{}
	for _, name := range olds {
		// The name with the longest common end is next to where this one would be.
		k, _ := slices.BinarySearchFunc(news, name, fromEnd)
		best, length := "", 0
		for _, other := range news[max(k-1, 0):min(k+1, len(news))] {
			if n := commonEnd(name, other); n > length && text.Base(name) == text.Base(other) {
				best, length = other, n
			}
		}
		if best != "" {
			count[[2]string{name[:len(name)-length], best[:len(best)-length]}]++
		}
	}
	for folders, n := range count {
		r.Paths = append(r.Paths, PathMove{folders[0], folders[1], n})
	}
	slices.SortFunc(r.Paths, func(x, y PathMove) int {
		return cmp.Or(cmp.Compare(y.Files, x.Files), cmp.Compare(x.Old, y.Old), cmp.Compare(x.New, y.New))
	})
}

// fromEnd compares names from their ends.
func fromEnd(a, b string) int {
	for i := 1; i <= min(len(a), len(b)); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}

// commonEnd returns the length of the longest run of folders and the base name that two
// names share at their ends.
func commonEnd(a, b string) int {
	n := 0
	for i := 1; i <= min(len(a), len(b)); i++ {
		if a[len(a)-i] != b[len(b)-i] {
			break
		}
		if c := a[len(a)-i]; c == '/' || c == '\\' {
			n = i - 1
		}
		if i == len(a) || i == len(b) {
			n = i
		}
	}
	return n
}
