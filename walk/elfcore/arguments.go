package elfcore

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/symtool/symtool/walk/dump"
)

// maxString is the length of the longest argument that the kernel accepts
// (include/uapi/linux/binfmts.h, MAX_ARG_STRLEN: 32 pages).
const maxString = 32 * 4096

// readArguments reads the command line and the environment from the stack of the first thread. From
// lower to higher addresses, the kernel puts there the number of arguments, pointers to them, 0,
// pointers to the environment, 0, and the auxiliary vector. readArguments finds that vector by its
// copy in NT_AUXV. NT_PRPSINFO has only the first 80 bytes of the command line.
func (r *reader) readArguments() {
	stack, at := r.findAuxv()
	if stack == nil {
		return
	}
	if v, ok := r.below(stack.Data, &at); !ok || v != 0 {
		return
	}
	env, ok := r.pointers(stack.Data, &at, func(v uint64, n int) bool { return v == 0 })
	if !ok {
		return
	}
	args, ok := r.pointers(stack.Data, &at, func(v uint64, n int) bool { return v == uint64(n) })
	if !ok {
		return
	}
	room := len(stack.Data) // for all strings, however many pointers lead to them
	argText, ok := r.strings(args, &room)
	envText, ok2 := r.strings(env, &room)
	if !ok || !ok2 {
		return
	}
	r.d.Process.Args, r.d.Process.Env = argText, envText
}

// findAuxv returns the memory with the auxiliary vector, and the vector's offset there.
func (r *reader) findAuxv() (*dump.Region, int) {
	vector := encodeAuxv(r.d.Auxv, r.word, r.order())
	for _, key := range []uint64{atRandom, atExecFn} { // both strings are above the vector
		if addr, ok := r.aux(key); ok && len(vector) > 0 {
			if m := r.d.Memory.Find(addr); m != nil {
				if at := bytes.Index(m.Data, vector); at >= 0 {
					return m, at
				}
			}
		}
	}
	return nil, 0
}

// encodeAuxv encodes an auxiliary vector without its terminator.
func encodeAuxv(vector []dump.Aux, word int, order binary.ByteOrder) (out []byte) {
	for _, a := range vector {
		out = appendUint(appendUint(out, a.Key, word, order), a.Value, word, order)
	}
	return out
}

// pointers returns the words below at, in order of address, down to the first for which end
// returns true. n is the number of words above it.
func (r *reader) pointers(stack []byte, at *int, end func(v uint64, n int) bool) (list []uint64, ok bool) {
	for {
		v, ok := r.below(stack, at)
		if !ok {
			return nil, false
		}
		if end(v, len(list)) {
			slices.Reverse(list)
			return list, true
		}
		list = append(list, v)
	}
}

// below reads the word before at, and moves at to it.
func (r *reader) below(stack []byte, at *int) (uint64, bool) {
	if *at -= r.word; *at < 0 {
		return 0, false
	}
	return uintAt(stack, *at, r.word, r.order())
}

// strings reads strings of at most room bytes in all.
func (r *reader) strings(at []uint64, room *int) (list []string, ok bool) {
	for _, addr := range at {
		s, ok := r.cstring(addr, min(maxString, *room))
		if !ok {
			return nil, false
		}
		list = append(list, s)
		*room -= len(s) + 1
	}
	return list, true
}

// cstring reads the string at addr, which must end within most bytes.
func (r *reader) cstring(addr uint64, most int) (string, bool) {
	b := r.d.Memory.Bytes(addr, most)
	i := bytes.IndexByte(b, 0)
	if i < 0 {
		return "", false
	}
	return string(b[:i]), true
}
