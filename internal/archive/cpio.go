package archive

import (
	"fmt"
	"io"
	"strconv"
)

// The formats of cpio(5), by their magic.
const (
	cpioNew = "070701"
	cpioSum = "070702" // like cpioNew, with a checksum of the contents
	cpioOld = "070707"

	cpioTrailer = "TRAILER!!!" // the name of the last member

	modeKind    = 0o170000
	modeRegular = 0o100000
)

// cpioForm describes where a header keeps its numbers.
type cpioForm struct {
	size      int    // of the header
	base      int    // base of the numbers
	mode      [2]int // from, to
	name      [2]int // length of the name, including its NUL
	contents  [2]int // length of the contents
	alignment int64  // alignment of the contents and of the next header
}

var cpioForms = map[string]*cpioForm{cpioNew: &cpioNewForm, cpioSum: &cpioNewForm, cpioOld: &cpioOldForm}

var (
	cpioNewForm = cpioForm{size: 110, base: 16, mode: [2]int{14, 22}, contents: [2]int{54, 62}, name: [2]int{94, 102}, alignment: 4}
	cpioOldForm = cpioForm{size: 76, base: 8, mode: [2]int{18, 24}, contents: [2]int{65, 76}, name: [2]int{59, 65}, alignment: 1}
)

// cpioMember is a header.
type cpioMember struct {
	name       string
	mode, size int64
	alignment  int64
}

// cpio reads a cpio archive.
func (w *walker) cpio(in *input) error {
	for !w.done() {
		m, err := cpioHeader(in)
		if err != nil || m.name == cpioTrailer {
			return err
		}
		contents := &exactReader{in.r, m.size}
		if m.mode&modeKind == modeRegular && m.size > 0 {
			w.member(in, m.name, contents)
		}
		rest := contents.left + -m.size&(m.alignment-1)
		if _, err := io.CopyN(io.Discard, in.r, rest); err != nil {
			return err
		}
	}
	return nil
}

// cpioHeader reads the header of the next member, including the name and its padding.
func cpioHeader(in *input) (m cpioMember, err error) {
	magic, err := in.r.Peek(len(cpioNew))
	if err != nil {
		return m, err
	}
	form := cpioForms[string(magic)]
	if form == nil {
		return m, fmt.Errorf("cpio header %q: want %s, %s or %s", magic, cpioNew, cpioSum, cpioOld)
	}
	head := make([]byte, form.size)
	if _, err := io.ReadFull(in.r, head); err != nil {
		return m, err
	}
	var numbers [3]int64
	for i, at := range [][2]int{form.mode, form.contents, form.name} {
		if numbers[i], err = strconv.ParseInt(string(head[at[0]:at[1]]), form.base, 64); err != nil || numbers[i] < 0 {
			return m, fmt.Errorf("cpio header %q: want numbers of base %d", head, form.base)
		}
	}
	length := numbers[2]
	if length < 1 || length > maxName {
		return m, fmt.Errorf("a member's name has %d bytes, want at most %d", length, maxName)
	}
	padded := length + -(int64(form.size)+length)&(form.alignment-1)
	name := make([]byte, padded)
	if _, err := io.ReadFull(in.r, name); err != nil {
		return m, err
	}
	return cpioMember{string(name[:length-1]), numbers[0], numbers[1], form.alignment}, nil
}
