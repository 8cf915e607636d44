package eval

import (
	"bytes"
	"fmt"
)

// sanitizedWord is what Breakpad and Crashpad, when they sanitize the stack, write over words
// that cannot be pointers. It is a mark, not a value.
var sanitizedWord = map[int]uint64{4: 0x0defaced, 8: 0x0defaced0defaced}

// mark returns the bytes of that word.
func (f *Frame) mark() []byte {
	return number{size: f.ptrSize(), lo: sanitizedWord[f.ptrSize()]}.bytes(f.BigEndian())
}

// hasMark reports whether the words that contain the size bytes at addr may be marks.
func (f *Frame) hasMark(addr uint64, size int) bool {
	word := uint64(f.ptrSize())
	first := addr &^ (word - 1)
	end := (addr + uint64(size) + word - 1) &^ (word - 1)
	return bytes.Contains(f.Memory.Bytes(first, int(end-first)), f.mark())
}

// dropMarks makes the bytes of marks unavailable.
func (f *Frame) dropMarks(v *Value) {
	word, mark := f.ptrSize(), f.mark()
	first := int(v.Address % uint64(word))
	for at := -first; at < len(v.Bytes); at += word {
		addr := v.Address + uint64(int64(at))
		if !bytes.Equal(f.Memory.Bytes(addr, word), mark) {
			continue
		}
		for i := max(at, 0); i < min(at+word, len(v.Bytes)); i++ {
			v.Bytes[i], v.States[i] = 0, Unavailable
		}
		v.Why = fmt.Sprintf("the writer of the dump erased the word at %#x", addr)
	}
}
