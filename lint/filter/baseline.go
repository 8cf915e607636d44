package filter

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/finding"
)

// Baseline is a list of known findings, so that only new findings count. lint writes it, and a project stores it, in
// the format of package lint/config. Two findings are the same if they have the same rule, are in files with the same
// base name, and their functions and messages differ only in numbers: lines and addresses change with each build. If a
// finding occurs more often than in the baseline, the last ones are new. Several files with the same base name are each
// compared with it separately.
type Baseline struct {
	File    string // used in messages
	entries map[baselineKey]*Entry
	rules   map[[2]string]int // number of entries by file and rule
}

// Entry is a finding in a baseline.
type Entry struct {
	File        string `json:"file"` // base name
	Rule        string `json:"rule"`
	Fingerprint string `json:"fingerprint"`        // restFingerprint matches any
	Count       int    `json:"count"`              // at least 1
	Function    string `json:"function,omitempty"` // of the first finding, for people
	Message     string `json:"message,omitempty"`  // of the first finding, for people
}

func (e *Entry) key() baselineKey { return baselineKey{e.File, e.Rule, e.Fingerprint} }

// isOf reports whether the entry belongs to a file.
func (e *Entry) isOf(file string) bool { return e.File == BaseName(file) }

// example returns the message that represents the entry in messages.
func (e *Entry) example() string { return cmp.Or(e.Message, "any message") }

type baselineKey struct{ file, rule, fingerprint string }

// restFingerprint is the fingerprint of an entry that stands for any finding, because there were too many to list.
const restFingerprint = "*"

// maxBaselineEntries is the number of different findings that a baseline lists for each rule and file. One more entry
// counts the others.
const maxBaselineEntries = 1000

func (k baselineKey) rest() baselineKey { return baselineKey{k.file, k.rule, restFingerprint} }

// fingerprintOf returns the key of a finding in a file with the given base name.
func fingerprintOf(name string, f *finding.Finding) baselineKey {
	return baselineKey{name, f.Rule.ID, Fingerprint(f)}
}

// Fingerprint returns a hash, as 16 hexadecimal digits, that identifies a finding across builds. It covers the rule,
// function and message without their numbers. For a rule that reports a file once, it covers the rule only.
func Fingerprint(f *finding.Finding) string {
	text := f.Rule.ID
	if !f.Rule.PerFile {
		function := f.Function
		if f.Late {
			function = "" // it was unknown when the baseline was written
		}
		text += "\x00" + withoutNumbers(function, isDecimal, "") + "\x00" + withoutNumbers(f.Message, isNumber, "s")
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// withoutNumbers replaces words that are numbers with "#", and removes plural endings from
// the others.
func withoutNumbers(s string, isNumber func(word string) bool, plural string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && isWordByte(s[end]) {
			end++
		}
		switch {
		case end == i:
			b.WriteByte(s[i])
			end++
		case isNumber(s[i:end]):
			b.WriteByte('#')
		default:
			b.WriteString(strings.TrimSuffix(s[i:end], plural))
		}
		i = end
	}
	return b.String()
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

// isDecimal reports whether a word of a function's name is a number: compilers number functions, as in f.isra.0.
func isDecimal(word string) bool { return strings.Trim(word, "0123456789") == "" }

// isNumber reports whether a word of a message is a number. It is also true for words such as "add", which does no
// harm.
func isNumber(word string) bool {
	word = strings.TrimPrefix(word, "0x")
	return word != "" && strings.Trim(word, "0123456789abcdefABCDEF") == ""
}

// NewBaseline returns an empty baseline; file is used in messages.
func NewBaseline(file string) *Baseline {
	return &Baseline{File: file, entries: map[baselineKey]*Entry{}, rules: map[[2]string]int{}}
}

// add counts n findings. f is nil if their text is unknown.
func (b *Baseline) add(key baselineKey, f *finding.Finding, n int) {
	if n == 0 {
		return
	}
	e := b.entries[key]
	if e == nil && b.rules[[2]string{key.file, key.rule}] >= maxBaselineEntries {
		key, f = key.rest(), nil
		e = b.entries[key]
	}
	if e == nil {
		e = &Entry{File: key.file, Rule: key.rule, Fingerprint: key.fingerprint}
		if f != nil {
			e.Function, e.Message = clipped(text.Printable(f.Function)), clipped(text.Printable(f.Message))
		}
		b.put(e)
	}
	e.Count += n
}

func (b *Baseline) put(e *Entry) {
	b.entries[e.key()] = e
	b.rules[[2]string{e.File, e.Rule}]++
}

// Add adds an entry, and reports whether there was none with the same file, rule and fingerprint.
func (b *Baseline) Add(e *Entry) bool {
	if b.entries[e.key()] != nil {
		return false
	}
	b.put(e)
	return true
}

// maxExample is the length at which a baseline cuts texts.
const maxExample = 200

func clipped(s string) string {
	if len(s) <= maxExample {
		return s
	}
	return strings.ToValidUTF8(s[:maxExample], "") + "..."
}

// merge adds the baseline of another file, perhaps with the same base name. The order of calls
// does not matter.
func (b *Baseline) merge(other *Baseline) {
	for key, e := range other.entries {
		have := b.entries[key]
		if have == nil {
			b.put(e)
			continue
		}
		have.Count = max(have.Count, e.Count)
		if cmp.Or(cmp.Compare(e.Message, have.Message), cmp.Compare(e.Function, have.Function)) < 0 {
			have.Message, have.Function = e.Message, e.Function
		}
	}
}

// Sorted returns the entries sorted by file, rule and fingerprint.
func (b *Baseline) Sorted() []*Entry {
	return slices.SortedFunc(maps.Values(b.entries), func(x, y *Entry) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.Fingerprint, y.Fingerprint))
	})
}
