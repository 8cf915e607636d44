package symfmt

import (
	"strings"
	"unicode/utf8"
)

// Names that stand for one that cannot be written.
const (
	NoName   = "<name omitted>" // of a FUNC, PUBLIC or INLINE_ORIGIN: what Breakpad's dumper writes for a nameless function
	NoFile   = "<unknown>"      // of a FILE
	noModule = "unknown"        // for a word of MODULE, and its name
	noID     = "000000000000000000000000000000000"
	noKey    = "UNKNOWN" // of an INFO
	noRules  = ".cfa: .undef"
)

// maxName keeps a line with a name, and the numbers before it, below MaxLine.
const maxName = MaxLine - 1024

// CleanName returns name as it is written, where a record is a line and its
// name ends it: each run of control characters (C0, DEL, C1) and of Unicode's
// line and paragraph separators is one space, there are no blanks at either
// end, and an empty name is instead. All else, invalid UTF-8 too, stays.
func CleanName(name, instead string) string {
	if clean(name) {
		return name
	}
	if name = strings.Trim(replaceControls(name), " "); name == "" {
		return instead
	}
	if len(name) > maxName {
		name = strings.TrimRight(strings.ToValidUTF8(name[:maxName], ""), " ")
	}
	return name
}

// suspect marks the bytes that are, or may begin, a control character.
var suspect = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = true
	}
	t[0x7f], t[0xc2], t[0xe2] = true, true, true
	return t
}()

// clean reports whether CleanName has nothing to do.
func clean(name string) bool {
	if name == "" || name[0] == ' ' || name[len(name)-1] == ' ' || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if suspect[name[i]] && controlLen(name[i:]) > 0 {
			return false
		}
	}
	return true
}

// controlLen is the length of the control character or separator at the start
// of s, 0 if there is none.
func controlLen(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029' {
		return n
	}
	return 0
}

func replaceControls(s string) string {
	var b strings.Builder
	run := false
	for i := 0; i < len(s); {
		if n := controlLen(s[i:]); n > 0 {
			if !run {
				b.WriteByte(' ')
			}
			run = true
			i += n
			continue
		}
		run = false
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// cleanWord is CleanName for a field that something follows: a blank in it
// becomes '_'.
func cleanWord(word, instead string) string {
	return strings.ReplaceAll(CleanName(word, instead), " ", "_")
}

// cleanID is cleanWord for the id of a MODULE, of which only hexadecimal digits
// stay.
func cleanID(id string) string {
	id = strings.Map(func(r rune) rune {
		if r < 0x80 && hexDigit[r] != notHex {
			return r
		}
		return -1
	}, id)
	if id == "" {
		return noID
	}
	return id
}

// cleanRules is CleanName for rules, whose words are separated by one space.
func cleanRules(rules string) string {
	if clean(rules) && !strings.Contains(rules, "  ") {
		return rules
	}
	return strings.Join(strings.Fields(CleanName(rules, "")), " ")
}

// texts makes strings in large pieces: a module has hundreds of thousands of
// names, and they live as long as each other.
type texts struct{ chunk strings.Builder }

const textChunk = 64 << 10

func (t *texts) keep(b []byte) string {
	if len(b) > textChunk/8 {
		return string(b)
	}
	if t.chunk.Cap()-t.chunk.Len() < len(b) {
		t.chunk = strings.Builder{}
		t.chunk.Grow(textChunk)
	}
	start := t.chunk.Len()
	t.chunk.Write(b)
	return t.chunk.String()[start:]
}
