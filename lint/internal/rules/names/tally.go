package names

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// tally counts names of one kind and keeps the first.
type tally struct {
	count int
	line  int
	name  string
}

func (t *tally) add(r *symfmt.Record, name []byte) {
	if t.count == 0 {
		t.line, t.name = r.Pos().Line, shortName(name)
	}
	t.count++
}

// report reports the names at the first one. one and many are the verb phrases for one name
// ("is C++") and for several ("are C++").
func (t *tally) report(p *check.Pass, one, many string) { t.reportAs(p, "name", one, many) }

// reportAs is like report, for things other than names; what is the noun for one of them.
func (t *tally) reportAs(p *check.Pass, what, one, many string) {
	switch t.count {
	case 0:
	case 1:
		p.ReportLine(t.line, "a %s %s: %s", what, one, t.name)
	default:
		p.ReportLine(t.line, "%d %ss %s; the first is %s", t.count, what, many, t.name)
	}
}

// originName returns the name of a record. For an INLINE_ORIGIN of the old form, that is the text
// after the number of the file.
func originName(r *symfmt.Record) []byte {
	if r.Kind == symfmt.KindInlineOrigin {
		if _, name, ok := r.OldOrigin(); ok && len(name) > 0 {
			return name
		}
	}
	return r.Name
}

// placeholderNames are the texts that writers use instead of a name.
var placeholderNames = []string{"<name omitted>", "<unknown>", "<unnamed>", "<no name>", "(unknown)", "??"}

func placeholders(p *check.Pass) (func(*symfmt.Record), func()) {
	t := tally{}
	return func(r *symfmt.Record) {
			name := originName(r)
			if len(name) > 0 && (name[0] == '<' || name[0] == '(' || name[0] == '?') && slices.Contains(placeholderNames, string(name)) {
				t.add(r, name)
			}
		}, func() {
			t.report(p, "is a placeholder", "are placeholders")
		}
}

// suffixSeed seeds the hashes of names. A hash of 8 bytes is kept instead of each name.
var suffixSeed = maphash.MakeSeed()

// suffixed is a name with a compiler's suffix. It takes 16 bytes.
type suffixed struct {
	clean uint64 // hash of the name without the suffix
	line  uint32
	there bool // the file also has the name without the suffix
}

// maxSuffixed is the number of names with suffixes that are remembered.
const maxSuffixed = 1 << 20

func suffixedNames(p *check.Pass) (func(*symfmt.Record), func()) {
	var hashes facts.Table[uint64] // of all names
	var names []suffixed
	texts := map[uint32]string{} // texts of the first ones, by line
	return func(r *symfmt.Record) {
			hashes.Add(maphash.Bytes(suffixSeed, r.Name))
			clean := withoutSuffix(r.Name)
			if len(clean) == 0 || len(clean) == len(r.Name) || len(names) == maxSuffixed {
				return
			}
			line := uint32(r.Pos().Line)
			names = append(names, suffixed{clean: maphash.Bytes(suffixSeed, clean), line: line})
			if len(texts) < maxSuffixTexts {
				texts[line] = shortName(r.Name)
			}
		}, func() {
			findClean(names, &hashes)
			t := tally{}
			for _, s := range names {
				if !s.there {
					continue
				}
				if t.count == 0 || int(s.line) < t.line {
					t.line, t.name = int(s.line), texts[s.line]
				}
				t.count++
			}
			if t.name == "" {
				t.name = "not remembered"
			}
			t.report(p, "has a compiler's suffix, and occurs without it, too", "have a compiler's suffix, and occur without it, too")
		}
}

// findClean sets there in names; hashes are the hashes of all names. The names are few, and are
// sorted in place.
func findClean(names []suffixed, hashes *facts.Table[uint64]) {
	slices.SortFunc(names, func(a, b suffixed) int { return cmp.Compare(a.clean, b.clean) })
	for _, h := range hashes.All {
		i, _ := slices.BinarySearchFunc(names, *h, func(s suffixed, h uint64) int { return cmp.Compare(s.clean, h) })
		for ; i < len(names) && names[i].clean == *h && !names[i].there; i++ {
			names[i].there = true
		}
	}
}

// maxSuffixTexts is the number of names with suffixes whose texts are kept, so that the first one
// reported can be shown.
const maxSuffixTexts = 1000
