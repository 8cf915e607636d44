package logs

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// scan and placeAt find NAME+0xADDR and these forms:
//
//	NAME + 0xADDR                      of systemd-coredump
//	(NAME+0xADDR) (BuildId: DIGITS)    of sanitizers, which may leave the id out
//	NAME(+0xADDR)                      of the C library's backtrace_symbols: what is in
//	NAME() [0xADDR], NAME[0xADDR]      the brackets, or would be
//
// Addresses from sanitizers and the C library count from the address to which the linker linked
// the file. This is the start of the module unless the module is linked to a fixed address. Other
// addresses count from the start of the module.
//
// A NAME is a run of bytes that may occur in names. A name with other bytes, such
// as "Web Content", is found if it is in Filter.Names; of several names before
// +0xADDR, the longest counts.

// placeAt reads the place whose address begins, with 0x, at digits.
func (f *Filter) placeAt(text []byte, digits int) {
	p := &f.place
	*p = Place{end: digits + len(number)}
	head := text[:digits]
	mark, nameEnd := digits-1, digits-1
	switch {
	case bytes.HasSuffix(head, []byte("[")):
		f.absoluteAt(text, mark)
		return
	case bytes.HasSuffix(head, []byte(" + ")):
		mark, nameEnd = mark-1, mark-2
	case bytes.HasSuffix(head, []byte("(+")):
		nameEnd--
	case !bytes.HasSuffix(head, []byte("+")):
		return
	}
	if !p.readAddress(text, digits) || p.end < len(text) && isNameByte(text[p.end]) && text[p.end] != '.' {
		return
	}
	p.start, p.Name = f.nameBefore(text[:nameEnd])
	switch {
	case text[nameEnd] == '(':
		p.start, p.Counts = mark, FromLink
	case text[nameEnd] == '+' && p.end < len(text) && text[p.end] == ')':
		p.inBrackets(text, mark)
	}
}

// inBrackets finds the opening bracket of the place whose plus is at mark. The path after the
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

// absoluteAt reads NAME() [0xADDR] or NAME[0xADDR], whose [ is at mark. The address is kept in
// the output.
func (f *Filter) absoluteAt(text []byte, mark int) {
	p := &f.place
	if !p.readAddress(text, mark+1) || p.end == len(text) || text[p.end] != ']' {
		return
	}
	head, empty := bytes.CutSuffix(text[:mark], []byte("() "))
	if _, p.Name = f.nameBefore(head); p.Name == "" {
		return
	}
	p.Counts, p.start, p.after = Absolute, mark, string(text[mark:p.end])
	if empty {
		p.start, p.after = mark-len(") "), ") "+p.after
		return
	}
	p.before, p.after = "(", ")"+p.after
}

// readAddress reads 0x and the digits of an address, and sets p.end to the end of the digits.
func (p *Place) readAddress(text []byte, digits int) bool {
	digits += len(number)
	p.end = digits
	for p.end < len(text) && isHexDigit(text[p.end]) {
		p.end++
	}
	if p.end == digits {
		return false
	}
	addr, err := strconv.ParseUint(string(text[digits:p.end]), 16, 64)
	p.Addr = addr
	return err == nil
}

// buildID returns the digits of (BuildId: DIGITS), which sanitizers write after a place.
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

// isHex reports whether b consists of hexadecimal digits, as an ID does.
func isHex(b []byte) bool {
	return len(b) > 0 && !slices.ContainsFunc(b, func(c byte) bool { return !isHexDigit(c) })
}

func isHexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
