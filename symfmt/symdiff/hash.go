package symdiff

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/symtool/symtool/symfmt"
)

// hash identifies a name or contents. Its seed is new in each process, so that
// nobody can prepare collisions. Among a million functions of two files, two equal
// hashes are expected once in 40 million runs.
type hash uint64

var seed = maphash.MakeSeed()

func hashBytes(b []byte) hash  { return hash(maphash.Bytes(seed, b)) }
func hashString(s string) hash { return hash(maphash.String(seed, s)) }
func hashNumber(n uint64) hash { return mix(numberSalt, n) }
func hashWin(r *symfmt.Record) hash {
	w := &r.Win
	h := hashBytes(r.Name)
	for _, n := range [...]uint64{uint64(w.Type), w.CodeSize, w.PrologueSize, w.EpilogueSize, w.ParameterSize, w.SavedRegisterSize, w.LocalSize, w.MaxStackSize, flag(w.HasProgram), flag(w.AllocatesBasePtr)} {
		h = mix(h, n)
	}
	return h
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

var (
	numberSalt = hash(maphash.String(seed, "a number"))
	salts      = [2]uint64{maphash.String(seed, "odd") | 1, maphash.String(seed, "even") | 1}
)

// mix adds a number to a hash; order matters.
func mix(h hash, n uint64) hash {
	hi, lo := bits.Mul64(uint64(h)^salts[0], n^salts[1])
	return hash(hi ^ lo)
}

// kindOfName classifies a name by how well it identifies a function.
func kindOfName(name []byte) nameKind {
	switch {
	case len(name) == 0, bytes.HasPrefix(name, []byte(symfmt.NoName)), bytes.HasPrefix(name, []byte("<unknown")):
		return nameNone
	case bytes.HasPrefix(name, []byte("_Z")), bytes.HasPrefix(name, []byte("_R")), bytes.HasPrefix(name, []byte("?")):
		return nameMangled
	}
	return nameGood
}

// suffixes are what compilers append to the names of parts and copies of
// functions.
var suffixes = [][]byte{[]byte(".cold"), []byte(".part."), []byte(".isra."), []byte(".constprop."), []byte(".lto_priv."), []byte(".llvm."), []byte(" [clone"), []byte(" (.")}

// cold marks the names of parts that rarely run.
var cold = []byte(".cold")

// wholeNames returns the names of the functions that name may be a part of: the
// name without its last suffix, and without any.
func wholeNames(name []byte) (names [][]byte) {
	last, first := 0, len(name)
	for _, s := range suffixes {
		if i := bytes.LastIndex(name, s); i > 0 {
			last = max(last, i)
		}
		if i := bytes.Index(name, s); i > 0 {
			first = min(first, i)
		}
	}
	if last == 0 {
		return nil
	}
	if names = append(names, name[:last]); first < last {
		names = append(names, name[:first])
	}
	return names
}

// baseName returns a function's name without its arguments and the suffixes of
// compilers.
func baseName(name []byte) []byte {
	for _, s := range suffixes {
		if i := bytes.Index(name, s); i > 0 {
			name = name[:i]
		}
	}
	if i := argumentsOf(name); i > 0 {
		name = name[:i]
	}
	return name
}

// argumentsOf returns the index of the argument list at the end of a name, or -1.
func argumentsOf(name []byte) int {
	end := bytes.LastIndexByte(name, ')')
	if end < 0 || !onlyQualifiers(name[end+1:]) {
		return -1
	}
	depth := 0
	for i := end; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// onlyQualifiers reports whether only a member function's qualifiers follow its
// arguments.
func onlyQualifiers(rest []byte) bool {
	for word := range bytes.FieldsSeq(rest) {
		switch string(word) {
		case "const", "volatile", "&", "&&", "const&", "const&&", "noexcept":
		default:
			return false
		}
	}
	return true
}
