package logs

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// placeAt finds NAME+0xADDR, and
//
//	NAME + 0xADDR                      of systemd-coredump
//	(NAME+0xADDR) (BuildId: DIGITS)    of sanitizers, which may leave the id out
//	NAME(+0xADDR)                      of the C library's backtrace_symbols: what is in
//	NAME() [0xADDR], NAME[0xADDR]      the brackets, or would be
//
// What sanitizers and the C library print counts from where the linker put the file, which is the
// start of the module unless that is linked to a fixed address; other addresses count
// from the start of the module.
//
// A NAME is a run of bytes that may be in names. One with others in it, such as
// "Web Content", is found if it is one of Filter.Names; the longest that is before
// +0xADDR counts.

// placeAt reads the place whose plus, or bracket, is at mark.
func (f *Filter) placeAt(text []byte, mark int) Place {
	if text[mark] == '[' {
		return f.absoluteAt(text, mark)
	}
	const blank, bracket = ' ', '('
	digits, nameEnd := mark+1, mark
	before := byte(0)
	if mark > 0 {
		before = text[mark-1]
	}
	if before == blank && digits < len(text) && text[digits] == blank {
		digits++
		nameEnd--
	} else if before == bracket {
		nameEnd--
	}
	p := Place{end: mark + 1}
	if !p.readAddress(text, digits) || p.end < len(text) && isNameByte(text[p.end]) && text[p.end] != '.' {
		return p
	}
	p.start, p.Name = f.nameBefore(text[:nameEnd])
	switch {
	case before == bracket:
		p.start, p.Counts = mark, FromLink
	case before != blank && p.end < len(text) && text[p.end] == ')':
		p.inBrackets(text, mark)
	}
	return p
}

// inBrackets finds the bracket around the place whose plus is at mark: a path after the
// bracket may contain any bytes.
func (p *Place) inBrackets(text []byte, mark int) {
	head, cut := tail(text[:mark], longestName)
	line := bytes.LastIndexByte(head, '\n') + 1
	if i := bytes.LastIndex(head[line:], []byte("(/")); i >= 0 {
		p.start = cut + line + i + 1
		p.Name = string(text[p.start:mark])
	}
	if p.start > 0 && text[p.start-1] == '(' {
		p.Counts, p.Build = FromLink, buildID(text[p.end+1:])
		p.Sure = strings.HasPrefix(p.Name, "/")
	}
}

// absoluteAt reads NAME() [0xADDR] or NAME[0xADDR], whose [ is at mark. The address
// stays.
func (f *Filter) absoluteAt(text []byte, mark int) Place {
	p := Place{end: mark + 1}
	if !p.readAddress(text, mark+1) || p.end == len(text) || text[p.end] != ']' {
		return p
	}
	p.Counts, p.start, p.after = Absolute, mark, string(text[mark:p.end])
	if head, empty := bytes.CutSuffix(text[:mark], []byte("() ")); empty {
		_, p.Name = f.nameBefore(head)
		p.start, p.after = mark-len(") "), ") "+p.after
		return p
	}
	_, p.Name = f.nameBefore(text[:mark])
	p.before, p.after = "(", ")"+p.after
	return p
}

// readAddress reads 0x and the digits of an address; it sets end to how far it searched.
func (p *Place) readAddress(text []byte, digits int) bool {
	if !bytes.HasPrefix(text[digits:], []byte("0x")) {
		return false
	}
	digits += len("0x")
	p.end = digits
	for p.end < len(text) && isHexDigit(text[p.end]) {
		p.end++
	}
	addr, err := strconv.ParseUint(string(text[digits:p.end]), 16, 64)
	p.Addr = addr
	return err == nil
}

// buildID reads the digits of (BuildId: DIGITS), which sanitizers write after a place.
func buildID(text []byte) string {
	digits, there := bytes.CutPrefix(text, []byte(" (BuildId: "))
	if !there {
		return ""
	}
	digits, _, there = bytes.Cut(digits[:min(len(digits), longestID)], []byte(")"))
	if !there || len(digits)%2 != 0 || !isHex(digits) {
		return ""
	}
	return strings.ToLower(string(digits))
}

// isHex reports whether b has the form of an id.
func isHex(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !isHexDigit(c) })
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
