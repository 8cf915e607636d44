package symfmt

import (
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
)

// Names written for missing ones.
const (
	NoName   = "<name omitted>" // of a FUNC, PUBLIC or INLINE_ORIGIN: what Breakpad's dumper writes for a nameless function
	NoFile   = "<unknown>"      // of a FILE
	noModule = "unknown"        // for a word of MODULE, and its name
	noID     = "000000000000000000000000000000000"
	noKey    = "UNKNOWN" // of an INFO
	noRules  = ".cfa: .undef"
)

// maxName keeps a line, with the numbers before the name, below MaxLine.
const maxName = MaxLine - 1024

// CleanName returns name as it is written: a name extends to the end of its
// record's line. Each run of control characters (C0, DEL, C1) and of Unicode
// line and paragraph separators becomes one space, each run of invalid UTF-8
// becomes one U+FFFD (rust-minidump rejects a file for a single such byte), and
// blanks at both ends are removed. It returns instead for an empty name.
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

// clean reports whether CleanName would return name unchanged.
func clean(name string) bool {
	if name == "" || name[0] == ' ' || name[len(name)-1] == ' ' || len(name) > maxName {
		return false
	}
	plain := text.PlainString(name)
	return plain == len(name) || cleanUTF8(name[plain:])
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

// cleanWord is like CleanName, for a field that is not the last: blanks in it
// become '_'.
func cleanWord(word, instead string) string {
	return strings.ReplaceAll(CleanName(word, instead), " ", "_")
}

// cleanID is like cleanWord, for the id of a MODULE; it keeps hexadecimal digits
// only.
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

// cleanRules is like CleanName, for rules; it separates words by one space.
func cleanRules(rules string) string {
	if clean(rules) && !strings.Contains(rules, "  ") {
		return rules
	}
	return strings.Join(strings.Fields(CleanName(rules, "")), " ")
}

// texts allocates strings in large pieces: a module has hundreds of thousands
// of names with the same lifetime.
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
