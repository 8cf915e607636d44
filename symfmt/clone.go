package symfmt

// cloneWords follow the name of a function in the symbols of its parts and copies,
// often with a number: f.part.0, f.cold, f.llvm.123.
//
//   - GCC: isra, constprop, part, cold, localalias, lto_priv (clone_function_name
//     and its callers: ipa-sra, ipa-cp, ipa-split, final, ipa-visibility, lto-partition).
//   - LLVM: llvm (names that ThinLTO makes global; rustc's too), cold (hot-cold
//     splitting), __part and eh (basic block sections), specialized, memprof,
//     argprom, argelim, retelim.
//   - BOLT: cold, warm.
//
// A suffix that is not here makes another function of it, with code that the
// source has elsewhere or nowhere: the frames of a coroutine (actor, destroy,
// resume, cleanup), the bodies of OpenMP's regions (_omp_fn, omp_outlined),
// resolvers, thunks, and the versions of a function for several processors. Nor
// does __uniq, which linkage names have.
var cloneWords = map[string]bool{
	"isra": true, "constprop": true, "part": true, "cold": true, "localalias": true, "lto_priv": true,
	"llvm": true, "__part": true, "eh": true, "specialized": true, "memprof": true,
	"argprom": true, "argelim": true, "retelim": true,
	"warm": true, "hot": true,
}

// CutClone returns a symbol's name without the suffixes of parts and copies of a
// function: f for f.isra.0.cold. Suffixes are cut from the end only, as mangled
// names may have dots of their own. A bare number, as in f.5, stays: it sets
// functions of one name apart.
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
