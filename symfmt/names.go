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
// line and paragraph separators is one space, each run of bytes that are not
// UTF-8 is one U+FFFD (rust-minidump rejects a file for one such byte), and
// blanks at either end are removed. For an empty name it returns instead.
func CleanName(name, instead string) string {
	if clean(name) {
		return name
	}
	name = strings.ToValidUTF8(name, "\ufffd")
	if name = strings.Trim(replaceControls(name), " "); name == "" {
		return instead
	}
	if len(name) > maxName {
		name = strings.TrimRight(strings.ToValidUTF8(name[:maxName], ""), " ")
	}
	return name
}

// clean reports whether CleanName has nothing to do.
func clean(name string) bool {
	if name == "" || name[0] == ' ' || name[len(name)-1] == ' ' || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if name[i] < 0x20 || name[i] >= 0x7f {
			return cleanUTF8(name[i:])
		}
	}
	return true
}

func cleanUTF8(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, isControl) < 0
}

func isControl(r rune) bool {
	return r < 0x20 || 0x7f <= r && r < 0xa0 || r == '\u2028' || r == '\u2029'
}

func replaceControls(s string) string {
	run := false
	return strings.Map(func(r rune) rune {
		before := run
		run = isControl(r)
		switch {
		case !run:
			return r
		case before:
			return -1
		}
		return ' '
	}, s)
}

// cleanWord is like CleanName, for a field that something follows: a blank in it
// becomes '_'.
func cleanWord(word, instead string) string {
	return strings.ReplaceAll(CleanName(word, instead), " ", "_")
}

// cleanID is like cleanWord, for the id of a MODULE, of which only hexadecimal digits
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

// cleanRules is like CleanName, for rules, whose words are separated by one space.
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
