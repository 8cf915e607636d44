package text

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
// Other suffixes name different functions, whose code is elsewhere in the
// source or not in it at all: a coroutine's frames (actor, destroy, resume,
// cleanup), the bodies of OpenMP regions (_omp_fn, omp_outlined), resolvers,
// thunks, and versions for particular processors. __uniq is not listed either,
// as it is part of linkage names.
var cloneWords = map[string]bool{
	"isra": true, "constprop": true, "part": true, "cold": true, "localalias": true, "lto_priv": true,
	"llvm": true, "__part": true, "eh": true, "specialized": true, "memprof": true,
	"argprom": true, "argelim": true, "retelim": true,
	"warm": true, "hot": true,
}

// CutClone returns a symbol's name without the suffixes that mark parts and
// copies of a function: f for f.isra.0.cold. It cuts suffixes only from the end,
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
