package code

import (
	"encoding/binary"
	"slices"
)

// switches has the switches whose number of cases no comparison limits.
type switches struct {
	open    []openTable
	known   map[uint64]int // indexes in open, by the address behind the jump
	opened  int            // how many were followed
	labels  []uint64       // addresses that instructions take, in order
	labeled bool
}

// table is a table of words that stand for addresses of code.
type table struct {
	at     uint64
	n      uint32 // the maximum index, or openEnd
	size   uint8  // of a word in bytes; 0 if there is no table
	shift  uint8  // a word's
	signed bool
	from   uint64 // what is added to a word
	code   bool   // it has instructions of a size, from from on
}

type openTable struct {
	table
	state kept
	path  path
}

// openEnd is the n of a table whose number of words is not known.
const openEnd = 1<<32 - 1

// maxTable is the maximum number of words in a table.
const maxTable = 1 << 16

// indirect goes on behind an indirect jump: in another function, or in the cases of a switch.
func (e *follower) indirect(in *step, next uint64, s *state, p path) {
	switch t := in.table; {
	case in.slot != 0:
		e.stub(in.slot, s, p)
	case t.size == 0 && e.fns[p.fn].guessed: // as behind a label of computed goto
	case t.size == 0:
		e.exit(0, s, p)
	case t.n == openEnd:
		e.later(t, next, s, p)
	default:
		for _, to := range e.cases(t) {
			e.jump(to, s, p)
		}
	}
}

// stub goes on in the function whose address the linker stores in a word.
func (e *follower) stub(slot uint64, s *state, p path) {
	addr, never := e.in.imported(slot)
	switch {
	case never:
	case e.in.follows(addr) && e.in.cpu.leaves(s):
		e.confirm(p.doubt)
		e.tail(p.fn, e.begin(addr))
	default:
		e.exit(addr, s, p)
	}
	if to := e.unbound(slot); to != 0 {
		e.reach(to, s, path{fn: e.linker()})
	}
}

// unbound returns where a word that the linker fills leads until it does: in a procedure linkage table, to the code that makes
// it find the function. It returns 0 if the word leads nowhere.
func (e *follower) unbound(slot uint64) uint64 {
	data := e.in.data(slot)
	size := e.in.cpu.word
	if len(data) < size {
		return 0
	}
	to := address(data, size)
	if !e.in.follows(to) {
		return 0
	}
	return to
}

// cases returns the targets of a switch, or nothing if one of them is not code. The table ends where an instruction takes
// the address of other data at the latest: what is known to limit the index may be more than the switch has cases.
func (e *follower) cases(t table) (all []uint64) {
	if t.n >= maxTable {
		return nil
	}
	for i := range min(uint64(t.n)+1, (e.labelBehind(t.at)-t.at)/uint64(t.size)) {
		to, ok := e.word(t, i)
		if !ok || !e.in.follows(to) {
			return nil
		}
		all = append(all, to)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// word returns the address that the word at an index in a table stands for.
func (e *follower) word(t table, i uint64) (to uint64, ok bool) {
	if t.code {
		return t.from + i*uint64(t.size), true
	}
	at := t.at + i*uint64(t.size)
	data := e.in.data(at)
	if len(data) < int(t.size) {
		return 0, false
	}
	var word [8]byte
	copy(word[:], data[:t.size])
	to = binary.LittleEndian.Uint64(word[:])
	if t.size == 8 {
		if to == 0 {
			to = e.in.pointer(at)
		}
		return to, to != 0
	}
	if above := 64 - 8*t.size; t.signed {
		to = uint64(int64(to<<above) >> above)
	}
	return t.from + to<<t.shift, true
}

// later keeps a switch that has a case for each value, so that nothing is compared, until all else is followed.
func (e *follower) later(t table, next uint64, s *state, p path) {
	i, known := e.known[next]
	if !known {
		i = len(e.open)
		e.known[next] = i
		e.open = append(e.open, openTable{})
	}
	e.open[i] = openTable{t, s.keep(), p}
	if i < e.opened {
		e.openTable(i)
	}
}

// openTables follows the switches that were kept. It reports whether there were any.
func (e *follower) openTables() bool {
	if e.opened == len(e.open) {
		return false
	}
	for e.opened < len(e.open) {
		e.opened++
		e.openTable(e.opened - 1)
	}
	return true
}

// openTable takes the words up to the next address that an instruction takes, as long as they lead to code. Other data
// may follow the words of a table that are relative to it, if code takes its address in another way: such words are
// taken only if they lead into the function, or if all up to the next address lead to code.
func (e *follower) openTable(i int) {
	t := e.open[i]
	if t.size < 4 && e.in.unnamed {
		return // any byte leads to code, and where the function ends is not known
	}
	end := e.labelBehind(t.at)
	var all []uint64
	own, at := 0, t.at
	for ; len(all) < maxTable && at+uint64(t.size) <= end; at += uint64(t.size) {
		to, ok := e.word(t.table, uint64(len(all)))
		if !ok || !e.in.follows(to) || e.in.starts(to) {
			break
		}
		if own == len(all) && e.within(to, t.path.fn) {
			own++
		}
		if all = append(all, to); to > t.at { // the table ends before the code that it leads to
			end = min(end, to&^e.in.cpu.isa)
		}
	}
	if t.size < 4 || t.size < 8 && at != end {
		all = all[:own]
	}
	var s state
	t.state.restore(&s)
	for _, to := range all {
		e.reach(to, &s, path{fn: t.path.fn})
	}
}

// within reports whether an address is between a function's start and that of the next.
func (e *follower) within(a uint64, fn int32) bool {
	start := e.fns[fn].start
	i, _ := slices.BinarySearch(e.in.begins, start+1)
	return a >= start && (i == len(e.in.begins) || a < e.in.begins[i])
}

// labelBehind returns the next address behind another that an instruction takes.
func (e *follower) labelBehind(a uint64) uint64 {
	e.label()
	if i, _ := slices.BinarySearch(e.labels, a+1); i < len(e.labels) {
		return e.labels[i]
	}
	return 1<<64 - 1
}

// label finds the addresses that instructions take.
func (e *follower) label() {
	if e.labeled {
		return
	}
	e.labeled = true
	for _, p := range e.in.parts {
		e.in.cpu.labels(p.bytes, p.lo, func(label uint64, absolute bool) {
			if !absolute || e.in.fixed {
				e.labels = append(e.labels, label)
			}
		})
	}
	slices.Sort(e.labels)
	e.labels = slices.Compact(e.labels)
}

// element returns the word of a size at an index in a table.
func element(at, index value, size uint8) value {
	if at.base != constant {
		return value{}
	}
	n := uint32(openEnd)
	if index.base == below {
		n = index.n
	}
	return value{base: word, off: at.off, n: n, size: size}
}

// table returns the table of which v is a target.
func (v value) table() table {
	switch {
	case v.base == word && v.size == 8:
		return table{at: uint64(v.off), n: v.n, size: v.size}
	case v.base == target:
		return table{at: uint64(v.off), n: v.n, size: 4, signed: true, from: uint64(v.off)}
	case v.base == displaced:
		return table{at: uint64(v.off + int64(int32(v.n))), n: openEnd, size: 4, signed: true, from: uint64(v.off)}
	}
	return table{}
}

// address returns the address of a size that data begin with.
func address(data []byte, size int) uint64 {
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(data))
	}
	return binary.LittleEndian.Uint64(data)
}
