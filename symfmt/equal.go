package symfmt

import (
	"bytes"
	"slices"
)

// Equal reports whether m and o have the same records in the same order,
// however bodies are packed and rules numbered.
func (m *Module) Equal(o *Module) bool {
	return m.OS == o.OS && m.Arch == o.Arch && m.ID == o.ID && m.Name == o.Name &&
		slices.Equal(m.Infos, o.Infos) &&
		slices.Equal(m.Files, o.Files) &&
		slices.Equal(m.Origins, o.Origins) &&
		slices.EqualFunc(m.Funcs, o.Funcs, func(a, b Func) bool { return a.equal(&b) }) &&
		slices.Equal(m.Publics, o.Publics) &&
		slices.Equal(m.Wins, o.Wins) &&
		m.CFI.equal(&o.CFI) && m.Vars.Equal(o.Vars)
}

// equal reports whether f and o are the same record with the same INLINE and
// line records.
func (f *Func) equal(o *Func) bool {
	if f.RVA != o.RVA || f.Size != o.Size || f.ParamSize != o.ParamSize || f.Name != o.Name || f.Multiple != o.Multiple {
		return false
	}
	return bytes.Equal(f.Body.data, o.Body.data) || f.equalInlines(o) && f.equalLines(o)
}

func (f *Func) equalInlines(o *Func) bool {
	a, b := f.InlineReader(), o.InlineReader()
	for a.Next() {
		if !b.Next() || !a.Inline.equal(&b.Inline) {
			return false
		}
	}
	return !b.Next()
}

func (f *Func) equalLines(o *Func) bool {
	a, b := f.LineReader(), o.LineReader()
	for a.Next() {
		if !b.Next() || a.Line != b.Line {
			return false
		}
	}
	return !b.Next()
}

// equal reports whether in and o are the same record.
func (in *Inline) equal(o *Inline) bool {
	return in.Depth == o.Depth && in.CallLine == o.CallLine && in.NoFile == o.NoFile &&
		(in.NoFile || in.CallFile == o.CallFile) && in.Origin == o.Origin && slices.Equal(in.Ranges, o.Ranges)
}

func (t *CFITable) equal(o *CFITable) bool {
	return slices.EqualFunc(t.Blocks, o.Blocks, func(a, b CFIBlock) bool { return t.sameBlock(&a, o, &b) })
}

// cloneWords are the words appended to a function's name, often with a number, in
// the symbols of its parts and copies: f.part.0, f.cold, f.llvm.123.
//
//   - GCC: isra, constprop, part, cold, localalias, lto_priv (clone_function_name
//     and its callers: ipa-sra, ipa-cp, ipa-split, final, ipa-visibility, lto-partition).
//   - LLVM: llvm (names that ThinLTO makes global, also in rustc), cold (hot-cold
//     splitting), __part and eh (basic block sections), specialized, memprof,
//     argprom, argelim, retelim.
//   - BOLT: cold, warm.
//
// Other suffixes name different functions, with code that the source has
// elsewhere or nowhere: a coroutine's frames (actor, destroy, resume, cleanup),
// the bodies of OpenMP regions (_omp_fn, omp_outlined), resolvers, thunks, and
// versions for particular processors. __uniq is not here either, as it is part
// of linkage names.
var cloneWords = map[string]bool{
	"isra": true, "constprop": true, "part": true, "cold": true, "localalias": true, "lto_priv": true,
	"llvm": true, "__part": true, "eh": true, "specialized": true, "memprof": true,
	"argprom": true, "argelim": true, "retelim": true,
	"warm": true, "hot": true,
}

// CutClone returns a symbol's name without the suffixes that mark parts and
// copies of a function: f for f.isra.0.cold. It cuts suffixes from the end only,
// since mangled names may contain dots. A bare number, as in f.5, stays: it
// distinguishes functions of the same name.
func CutClone[T ~string | ~[]byte](name T) T {
	for {
		end := len(name)
		for end > 0 && '0' <= name[end-1] && name[end-1] <= '9' {
			end--
		}
		if end < len(name) {
			if end--; end < 0 || name[end] != '.' {
				return name
			}
		}
		dot := lastDot(name[:end])
		if dot <= 0 || !cloneWords[string(name[dot+1:end])] {
			return name
		}
		name = name[:dot]
	}
}

func lastDot[T ~string | ~[]byte](name T) int {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return i
		}
	}
	return -1
}
