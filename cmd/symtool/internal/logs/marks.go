package logs

import (
	"bytes"

	"github.com/symtool/symtool/cmd/symtool/internal/markup"
)

// marks is a set of texts by which lines with places are recognised. Looking for all of them is much cheaper than
// matching each form.
type marks uint16

const (
	hexNumber marks = 1 << iota // every place that scan finds has this mark
	page                        // end of a size in a mapping
	frameNumber
	unknown
	elements // of symbolizer markup

	// Numbers and the text around them.
	counter          // pc=0xADDR
	bracketed        // [0xADDR
	offsetAndSize    // SYMBOL+0xADDR/0xSIZE
	offsetAndFile    // SYMBOL+0xADDR (FILE)
	offsetInBrackets // FILE(SYMBOL+0xADDR)
	decimalOffset    // N ... 0xADDR ... + N
	numbered         // N: 0xADDR or N# 0xADDR

	coredumpText // text of systemd-coredump, without numbers
)

// markTexts are the texts of the first marks. Each line with a place contains at least one of them. They end with
// bytes that are rare in logs.
var markTexts = [...]string{number, "000]", "#", "[unknown]", markup.Opens}

// number is the prefix of a hexadecimal number.
const number = "0x"

// hasMarks reports whether a text may contain places.
func hasMarks(text []byte) bool {
	for _, mark := range markTexts {
		if indexByLast(text, mark) >= 0 {
			return true
		}
	}
	return ofCoredump(text)
}

// ofCoredump reports whether a text contains lines of systemd-coredump that describe the frames below them.
func ofCoredump(text []byte) bool {
	return bytes.Contains(text, []byte("Module ")) || bytes.Contains(text, []byte(" dumped core."))
}

// marksIn returns the marks in a line.
func marksIn(line []byte) (found marks) {
	for i, mark := range markTexts[1:] {
		if indexByLast(line, mark) >= 0 {
			found |= hexNumber << (i + 1)
		}
	}
	if ofCoredump(line) {
		found |= coredumpText
	}
	for digits := 0; ; digits += len(number) {
		n := indexByLast(line[digits:], number)
		if n < 0 {
			return found
		}
		digits += n
		found |= hexNumber | around(line, digits)
	}
}

// around returns the marks of a number whose 0x is at digits, by the text around it.
func around(line []byte, digits int) marks {
	if digits == 0 {
		return 0
	}
	switch line[digits-1] {
	case '=':
		if name := line[:digits-1]; bytes.HasSuffix(name, []byte("pc")) || bytes.HasSuffix(name, []byte("PC")) {
			return counter
		}
	case '[':
		return bracketed
	case ' ', '\t':
		return afterBlank(line, digits)
	case '+':
		return aroundOffset(line[:digits-1], line[digits+len(number):])
	}
	return 0
}

// afterBlank returns the marks of a number that follows a blank, as in numbered frames.
func afterBlank(line []byte, digits int) marks {
	switch start := bytes.TrimLeft(line, " \t"); {
	case start[0] < '0' || start[0] > '9':
		return 0
	case bytes.HasSuffix(line[:digits-1], []byte(":")) || bytes.HasSuffix(line[:digits-1], []byte("#")):
		return numbered
	case bytes.Contains(line[digits:], []byte(" + ")):
		return decimalOffset
	}
	return 0
}

// aroundOffset returns the marks of +0xADDR, by the text before it and the text from its digits on.
func aroundOffset(before, after []byte) marks {
	for len(after) > 0 && isHexDigit(after[0]) {
		after = after[1:]
	}
	switch {
	case bytes.HasPrefix(after, []byte("/0x")):
		return offsetAndSize
	case bytes.HasPrefix(after, []byte(" (")):
		return offsetAndFile
	case bytes.HasPrefix(after, []byte(")")) && endsInBracket(before):
		return offsetInBrackets
	}
	return 0
}

// endsInBracket reports whether a text may end with FILE(SYMBOL. Sanitizers write a blank before the bracket.
func endsInBracket(text []byte) bool {
	n := bytes.LastIndexAny(text, "(+")
	return n > 0 && text[n] == '(' && bytes.IndexByte([]byte("\t\n\f\r "), text[n-1]) < 0
}

// indexByLast is like bytes.Index, for a text whose last byte is rarer than its first.
func indexByLast(text []byte, mark string) int {
	for pos := 0; ; {
		n := bytes.IndexByte(text[pos:], mark[len(mark)-1])
		if n < 0 {
			return -1
		}
		if pos += n + 1; bytes.HasSuffix(text[:pos], []byte(mark)) {
			return pos - len(mark)
		}
	}
}
