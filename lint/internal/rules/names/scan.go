package names

import (
	"unicode/utf8"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// nameFlags is the set of problems with the bytes of a name.
type nameFlags uint8

const (
	nameControl   nameFlags = 1 << iota // C0, DEL or C1
	nameNotUTF8                         // invalid UTF-8
	nameInvisible                       // marks that are invisible or change the direction of text
	nameHigh                            // bytes above 0x7f, which need a closer look
)

// nameCache caches the flags of a record's name, which several rules of a pass need.
type nameCache struct {
	record int // number of the record
	flags  nameFlags
}

// of returns the flags of a record's name, computed once.
func (c *nameCache) of(p *check.Pass, r *symfmt.Record) nameFlags {
	if c.record != p.Records {
		*c = nameCache{p.Records, scanName(r.Name)}
	}
	return c.flags
}

// byteFlags are the flags of single bytes. A tab counts as a blank; SYM119 reports CRs.
var byteFlags = func() (t [256]nameFlags) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = nameHigh
		case c < 0x20 && c != '\t' && c != '\r' || c == 0x7f:
			t[c] = nameControl
		}
	}
	return t
}()

func scanName(name []byte) nameFlags {
	flags := nameFlags(0)
	for _, c := range name {
		flags |= byteFlags[c]
	}
	if flags&nameHigh == 0 {
		return flags
	}
	for len(name) > 0 {
		r, n := utf8.DecodeRune(name)
		flags |= runeFlags(r, n)
		name = name[n:]
	}
	return flags
}

// runeFlags returns the flags of a rune that is n bytes long.
func runeFlags(r rune, n int) nameFlags {
	switch {
	case r < utf8.RuneSelf:
		return byteFlags[r]
	case r == utf8.RuneError && n == 1:
		return nameNotUTF8
	case r < 0xa0:
		return nameControl
	case text.Invisible(r):
		return nameInvisible
	}
	return 0
}

// findInName returns the offset of the first rune with one of the flags.
func findInName(name []byte, want nameFlags) (at int, bad []byte) {
	for at < len(name) {
		r, n := utf8.DecodeRune(name[at:])
		if runeFlags(r, n)&want != 0 {
			return at, name[at : at+n]
		}
		at += n
	}
	return 0, nil
}
