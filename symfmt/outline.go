package symfmt

import "bytes"

// skipOwned skips the lines that belong to a FUNC or STACK CFI INIT, as far as their
// first bytes show it: nine in ten lines of a large file.
func (r *Reader) skipOwned() {
	for r.err == nil {
		n := bytes.IndexByte(r.buf[r.pos:r.end], '\n')
		if n < 0 {
			if !r.eof && r.end-r.pos <= MaxLine {
				r.fill()
				continue
			}
			n = r.end - r.pos // the last line, unterminated, or a line that is too long
		}
		line := r.buf[r.pos : r.pos+n]
		g := r.ownerOf(line)
		if g == nil || n > MaxLine {
			return
		}
		r.pos = min(r.pos+n+1, r.end)
		r.report.Lines++
		g.end = r.Offset()
	}
}

// ownerOf returns the group that owns a line to be skipped, or nil if the line must
// be parsed.
func (r *Reader) ownerOf(line []byte) *group {
	g := &r.groups.fn
	switch {
	case len(line) == 0:
		return nil
	case isWord(line):
		if isRow(line) {
			g = &r.groups.block
		} else if !r.isKnownInline(line) {
			return nil
		}
	}
	if g.owner != OwnerRead {
		return nil
	}
	return g
}

// isWord reports whether a non-empty line may be something other than a line record.
func isWord(line []byte) bool {
	switch c := line[0]; {
	case c == 'F':
		return len(line) > 1 && (line[1] == 'U' || line[1] == 'I')
	case c == ' ' || c == '\t':
		return true
	default:
		return c > 'F' && (c < 'a' || c > 'f')
	}
}

// isRow recognises STACK CFI records in the form that all writers use.
func isRow(line []byte) bool {
	const word = "STACK CFI "
	if len(line) <= len(word) || string(line[:len(word)]) != word {
		return false
	}
	c := line[len(word)]
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
}

// isKnownInline recognises a plain INLINE record of a form already seen: in the old
// form, without a call file, the number of fields is odd.
func (r *Reader) isKnownInline(line []byte) bool {
	const word = "INLINE "
	if len(line) < len(word) || string(line[:len(word)]) != word {
		return false
	}
	if r.oldForm == r.newForm {
		return r.oldForm
	}
	line = trimCR(line)
	if line[len(line)-1] == ' ' || bytes.IndexByte(line, '\t') >= 0 || bytes.Contains(line, []byte("  ")) {
		return false
	}
	return r.oldForm == (bytes.Count(line, []byte{' '})%2 == 1)
}
