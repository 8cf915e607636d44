package follow

import (
	"encoding/binary"
	"slices"
)

// walk follows a block from its first instruction. If known is true, the stack pointer there is entry bytes below the
// CFA; otherwise the block's rule says where it is. walk returns false if there is no usable rule.
func (f *follower) walk(entry int64, known bool) bool {
	f.state, f.order, f.now, f.later = f.state[:0], f.order[:0], f.now[:0], f.later[:0]
	f.ends, f.jumps, f.exits, f.clash, f.self = f.ends[:0], f.jumps[:0], f.exits[:0], f.clash[:0], false
	f.long = false
	f.bad = [reasonCount]int{}
	if f.sites == nil {
		f.sites, f.refuted, f.leaves = map[uint32]bool{}, map[uint32]bool{}, map[uint64]bool{}
	}
	clear(f.leaves)
	clear(f.sites)
	clear(f.refuted)
	if cap(f.index) < len(f.code) {
		f.index = make([]int32, len(f.code))
	}
	f.index = f.index[:len(f.code)]
	clear(f.index)
	var s frameState
	if known {
		s.set(frameSP, entry)
	} else {
		var ok bool
		if s, ok = f.anchor(0); !ok {
			return false
		}
		s.anchored = false
	}
	if s.caller = s.knows(frameSP) && int64(s.off[frameSP]) == f.cpu.entry; s.caller {
		s.saves = f.enteredSaves()
	}
	if at := f.padded(0); !known && f.ruleChanges(0, at) {
		// This is a cold part that begins with a landing pad, to which no instruction leads.
		f.ends = append(f.ends, at)
	} else {
		f.now = append(f.now, pathItem{0, 0, s})
		f.drain()
	}
	for i := 0; i < len(f.ends); i++ {
		f.seed(f.ends[i])
	}
	return true
}

// padded returns the end of the padding that begins at an offset.
func (f *follower) padded(at uint32) uint32 {
	for int(at) < len(f.code) {
		n := f.cpu.nop(f.code[at:])
		if n == 0 {
			break
		}
		at += uint32(n)
	}
	return at
}

// A jump table has at least minTable entries, and its targets are at most this many bytes away.
const (
	minTable    = 3
	maxTableFar = 1 << 18
)

// jumpTable returns the end of a switch's table that begins at an offset. Microsoft's compiler puts such tables, of
// RVAs, behind the function's code, and its library has them between pieces of code. Bytes followed as code are not a
// table.
func (f *follower) jumpTable(at uint32) uint32 {
	if !f.tables {
		return at
	}
	end := at
	for ; int(end)+4 <= len(f.code) && !f.followed(end, end+4); end += 4 {
		place := f.base + uint64(binary.LittleEndian.Uint32(f.code[end:]))
		if place-(f.start+uint64(end))+maxTableFar > 2*maxTableFar {
			break
		}
	}
	if end-at < 4*minTable {
		return at
	}
	return end
}

// followed reports whether any of the bytes in [from, to) belongs to an instruction that was followed.
func (f *follower) followed(from, to uint32) bool {
	return slices.ContainsFunc(f.index[from:to], func(i int32) bool { return i != 0 })
}

// filled returns the end of the padding and tables that begin at an offset. A table is aligned, and may begin with the
// byte of a trap.
func (f *follower) filled(at uint32) uint32 {
	for int(at) < len(f.code) {
		if end := f.jumpTable(at); end > at {
			at = end
			continue
		}
		padded := at + uint32(f.cpu.nop(f.code[at:]))
		if padded == at {
			break
		}
		for at++; at < padded && ((f.start+uint64(at))%4 != 0 || f.jumpTable(at) == at); at++ {
		}
	}
	return at
}

// ruleChanges reports whether different rows are in force at two offsets.
func (f *follower) ruleChanges(a, b uint32) bool {
	if a == b || int(b) >= len(f.code) {
		return false
	}
	one, _, _ := f.ruleAt(a)
	two, _, _ := f.ruleAt(b)
	return one != nil && two != nil && one.rules[0] != two.rules[0]
}

// seed starts again at code that nothing has reached.
func (f *follower) seed(at uint32) {
	at = f.filled(at)
	if int(at) >= len(f.code) || f.index[at] != 0 || !f.inStep(at) {
		return
	}
	s, ok := f.anchor(at)
	if !ok {
		return
	}
	// The cases of a switch start from the state at its jump, if the rule agrees.
	row, reg, off := f.ruleAt(at)
	for i := range f.jumps {
		if j := &f.jumps[i].s; j.knows(reg) && int64(j.off[reg]) == off {
			saves := s.saves
			s = *j
			s.anchored, s.from = true, at+1
			if f.wrongSaves(row.saves, j) != 0 {
				s.saves = saves // it is not a case of this switch, or another path saves more
			}
			break
		}
	}
	f.now = append(f.now, pathItem{at, at, s})
	f.drain()
}

// inStep reports whether code to which no instruction leads is in step with code followed before: where they meet, both
// have the same instructions. If not, it begins in the middle of an instruction, or is data.
func (f *follower) inStep(at uint32) bool {
	var s frameState
	for int(at) < len(f.code) && f.index[at] <= 0 {
		st := f.cpu.step(f.code[at:], f.start+uint64(at), &s)
		next := at + uint32(st.size)
		if f.index[at] == inside || int(next) <= len(f.code) && st.size > 1 && f.followed(at+1, next) {
			return false
		}
		if st.kind != stepNext && st.kind != stepBranch && st.kind != stepCall {
			break
		}
		at = next
	}
	return true
}

// drain follows all pending paths. Paths after calls come last, as another path to the same instruction may show that a
// call does not return.
func (f *follower) drain() {
	for {
		if n := len(f.now); n > 0 {
			item := f.now[n-1]
			f.now = f.now[:n-1]
			f.path(item.at, item.s)
			continue
		}
		n := len(f.later)
		if n == 0 {
			return
		}
		item := f.later[n-1]
		f.later = f.later[:n-1]
		if f.returns(&item) {
			f.path(item.at, item.s)
		}
	}
}

// returns reports whether a call returns to the code after it. If it does not, the rules change after the call, or
// after padding, to rules that fit another path to that code.
func (f *follower) returns(item *pathItem) bool {
	behind := f.padded(item.at)
	if int(behind) >= len(f.code) {
		return false
	}
	if f.filled(item.at) > behind {
		f.ends = append(f.ends, item.at)
		return false
	}
	if i := f.index[behind]; i > 0 {
		have, sp := &f.state[i-1], frameSP
		return have.knows(sp) == item.s.knows(sp) && have.off[sp] == item.s.off[sp]
	}
	before, reg, off := f.ruleAt(item.from)
	after, reg2, off2 := f.ruleAt(behind)
	if before == after || !item.s.knows(reg2) {
		return true
	}
	if int64(item.s.off[reg2]) == off2 {
		if f.wrongSaves(before.saves, &item.s) != 0 || f.wrongSaves(after.saves, &item.s) == 0 {
			return true
		}
		f.ends = append(f.ends, behind)
		return false
	}
	if item.s.knows(reg) && int64(item.s.off[reg]) != off {
		return true // the rule is already wrong before the call
	}
	f.ends = append(f.ends, behind)
	return false
}

// path follows instructions up to one that does not continue.
func (f *follower) path(at uint32, s frameState) {
	for int(at) < len(f.code) {
		if !f.enter(at, &s) {
			return
		}
		addr := f.start + uint64(at)
		st := f.cpu.step(f.code[at:], addr, &s)
		if st.kind == stepBad || int(at)+st.size > len(f.code) {
			f.bad[reasonDecode]++
			return
		}
		next := at + uint32(st.size)
		f.cover(at+1, next)
		switch st.kind {
		case stepCall:
			if st.target == addr+uint64(st.size) {
				s.move(frameSP, -8) // it only pushes its own address
				break
			}
			f.sites[at] = true
			if f.cpu.link {
				s.saves.write(0)
			}
			outlined := f.call(st.target, &s)
			s.known &^= f.cpu.clobber
			if outlined {
				break // it returns
			}
			f.later = appendState(f.later, pathItem{next, at, s})
			f.ends = append(f.ends, next)
			return
		case stepJump:
			f.jump(at, st.target, &s)
			f.ends = append(f.ends, next)
			return
		case stepBranch:
			f.jump(at, st.target, &s)
		case stepIndirect:
			f.switches(at, &s)
			f.ends = append(f.ends, next)
			return
		case stepReturn:
			f.exit(at, 0, &s)
			f.ends = append(f.ends, next)
			return
		case stepTrap:
			if s.anchored {
				return // programs never execute it: these bytes are data
			}
			f.ends = append(f.ends, next)
			return
		case stepStop:
			f.ends = append(f.ends, next)
			return
		}
		at = next
	}
}

// call records a call, and follows the called function if it may leave the stack pointer or the frame pointer
// elsewhere. outlined reports whether it does.
func (f *follower) call(target uint64, s *frameState) (outlined bool) {
	if target == 0 {
		return false
	}
	if target-f.start < uint64(len(f.code)) && target != f.start {
		f.self = true
	}
	if is, known := f.calls[target]; known {
		outlined = is
	} else {
		var own frameState
		own.set(frameSP, f.cpu.entry)
		own.set(frameFP, f.cpu.entry+apart)
		outlined = f.called(target, &own) && (own.off[frameSP] != int32(f.cpu.entry) || own.knows(frameFP) && own.off[frameFP] != int32(f.cpu.entry+apart))
		f.calls[target] = outlined
	}
	if outlined {
		f.called(target, s)
	}
	return outlined
}

// apart is the assumed distance between a caller's frame pointer and its stack pointer: a function may set one to the
// other.
const apart = 1 << 20

// maxCalled is the maximum number of instructions that called follows in a function.
const maxCalled = 16

// called follows a short function up to its return, and reports whether it gets there with a known stack pointer. ABIs
// require a function to restore the stack pointer and the frame pointer, but compilers also make functions of parts of
// prologues and epilogues: Microsoft's __security_push_cookie and __security_pop_cookie on arm64, and the functions of
// LLVM's machine outliner. These return if no branch is taken.
func (f *follower) called(addr uint64, s *frameState) bool {
	if f.codeAt == nil {
		return false
	}
	code := f.codeAt(addr)
	for range maxCalled {
		before := *s
		st := f.cpu.step(code, addr, s)
		if st.size == 0 || st.size > len(code) {
			return false
		}
		switch st.kind {
		case stepReturn:
			*s = before
			return s.knows(frameSP)
		case stepNext, stepBranch:
		default:
			return false
		}
		code, addr = code[st.size:], addr+uint64(st.size)
	}
	return false
}

// switches records the state at an indirect jump. If paths with different stack pointers met before the jump, the last
// one counts.
func (f *follower) switches(at uint32, s *frameState) {
	j := *s
	j.from = 0
	for i := range f.jumps {
		if f.jumps[i].at == at {
			f.jumps[i].s = j
			return
		}
	}
	if n := len(f.jumps); n == 0 || n < maxJumps && f.jumps[n-1].s != j {
		f.jumps = append(f.jumps, pathItem{at, at, j})
	}
}

func (f *follower) jump(from uint32, target uint64, s *frameState) {
	if off := target - f.start; off < uint64(len(f.code)) {
		f.now = appendState(f.now, pathItem{uint32(off), from, *s})
		return
	}
	f.exit(from, target, s)
}

func (f *follower) exit(at uint32, target uint64, s *frameState) {
	f.leaves[target] = true
	if s.knows(frameSP) && !s.anchored {
		f.exits = append(f.exits, exitFact{at, s.off[frameSP], target})
	}
}

// appendState appends an item to a list that may be long, without frequent copies.
func appendState[T frameState | pathItem](list []T, item T) []T {
	if len(list) == manyInstructions {
		list = slices.Grow(list, maxInstructions-manyInstructions)
	}
	return append(list, item)
}

// refutes reports whether the code at an instruction, to which nothing seemed to lead, was followed with the state at a
// switch, but is now reached with another state.
func (f *follower) refutes(at uint32, have, s *frameState) bool {
	if have.from == 0 || have.from == s.from || at != have.from-1 && !f.refuted[have.from] {
		return false
	}
	f.refuted[have.from] = true
	return true
}

// inside is the index of an instruction's bytes other than the first. A jump may lead there, to skip a lock prefix.
const inside = -1

// cover marks the bytes in [from, to) as part of an instruction.
func (f *follower) cover(from, to uint32) {
	for at := from; at < to; at++ {
		if f.index[at] == 0 {
			f.index[at] = inside
		}
	}
}

// enter joins s with the known state at an instruction, and reports whether the instruction must be followed, for the
// first time or again.
func (f *follower) enter(at uint32, s *frameState) bool {
	i := f.index[at]
	if i == inside && s.anchored {
		return false // out of step with code followed before
	}
	if i <= 0 {
		if len(f.state) == maxInstructions {
			f.long = true
			return false
		}
		f.state = appendState(f.state, *s)
		f.index[at] = int32(len(f.state))
		f.order = append(f.order, at)
		return true
	}
	have := &f.state[i-1]
	sp := frameSP
	if have.knows(sp) && s.knows(sp) && have.off[sp] != s.off[sp] {
		if f.refutes(at, have, s) {
			*have = *s
			return true
		}
		if s.anchored {
			f.clash = append(f.clash, clashFact{at, have.off[sp], s.off[sp]})
			return false // what is known without a rule takes precedence
		}
		f.bad[reasonPaths]++
	}
	if s.anchored && !have.anchored {
		return false
	}
	if !have.join(s) {
		return false
	}
	*s = *have
	return true
}
