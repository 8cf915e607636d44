package symlist

import "bytes"

// MatchNM reports whether a file that begins with head is nm's output: its first line
// has an address of 8 or 16 digits, a type and a name.
func MatchNM(head []byte) bool {
	addr, rest := word(firstLine(head))
	if _, ok := hexNumber(addr); !ok || len(addr) != 8 && len(addr) != 16 {
		return false
	}
	second, rest := word(rest)
	if _, ok := hexNumber(second); ok && len(second) == len(addr) {
		second, rest = word(rest)
	}
	return isType(second) && len(rest) > 0
}

// MatchPerfMap reports whether a file that begins with head is a perf map: its first
// line has two hexadecimal numbers and a name, and is neither a line of nm nor a line
// record of a symbol file that lost its beginning. Other texts may begin like this,
// too.
func MatchPerfMap(head []byte) bool {
	start, rest := word(firstLine(head))
	size, name := word(rest)
	_, ok := hexNumber(start)
	_, sized := hexNumber(size)
	return ok && sized && len(name) > 0 && !MatchNM(head) && !isLineRecord(name)
}

// isLineRecord reports whether the text after an address and a size is a line number
// and a file number.
func isLineRecord(rest []byte) bool {
	line, file := word(rest)
	return isDecimal(line) && isDecimal(bytes.TrimRight(file, " \t"))
}

func isDecimal(w []byte) bool { return len(w) > 0 && len(bytes.Trim(w, "0123456789")) == 0 }

func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return bytes.TrimRight(line, "\r")
}
