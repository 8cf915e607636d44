package itanium

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

// pieces are what mutations put into names: parts of the grammar.
var pieces = strings.Fields(`S_ S0_ S1_ S2_ S3_ T_ T0_ T1_ TL0__ TL0_0_ St Sa Ss So P R O K V r KV PF vE E E E E i v c j b
	I J X L_Z 1a 1f 3foo N Z Dp sp DT Dt Ul UlT_E_ UlvE_ Ut_ Ua9enable_ifI U1x srT_ sr1A srN cv cl dt fp_ fp0_ il tl sZ sz
	st ad XadL_Z1fvEE Li1E Lb0E LDnE LDn0E A3_ A_ AstT__ M1a C1 D0 C2I1b Dn Da DF16_ DF16b DFi DB8_ Dv4_ Do DOLb1EE DwiE
	B3tag F1x W1m G H nw na qu gs gt rs ix pp_ pp _ __ _1 d_ s s_0 Ty Tn Tt Tp Tk TyT_ Tni Q rQ rq .cold Ts Te4enum so mc
	LA2_cE on dn li2_x aN lt Y QT_ fLpl fRpl flpl frpl TpTy TtTyE DC1a1bE`)

// tokens splits a mangled name into about what its grammar is made of.
func tokens(raw string) (out []string) {
	for i := 0; i < len(raw); {
		end := i + 1
		switch c := raw[i]; {
		case mangled.IsDigit(c):
			end = pastIdentifier(raw, i)
		case c == 'S' || c == 'T':
			if end = pastNumber(raw, i+1); end == i+1 {
				end = min(i+2, len(raw))
			}
		}
		out = append(out, raw[i:end])
		i = end
	}
	return out
}

// mutate makes another name from some, often one that follows the grammar.
func mutate(rng *rand.Rand, names []string) string {
	some := func() []string { return tokens(names[rng.IntN(len(names))][len("_Z"):]) }
	toks := some()
	for range 1 + rng.IntN(3) {
		if len(toks) == 0 {
			break
		}
		i, j := rng.IntN(len(toks)), rng.IntN(len(toks))
		switch rng.IntN(6) {
		case 0:
			toks = slices.Delete(toks, i, i+1)
		case 1:
			toks = slices.Insert(toks, i, pieces[rng.IntN(len(pieces))])
		case 2:
			toks[i] = pieces[rng.IntN(len(pieces))]
		case 3:
			toks[i], toks[j] = toks[j], toks[i]
		case 4:
			toks = slices.Insert(toks, i, slices.Clone(toks[j:min(len(toks), j+1+rng.IntN(8))])...)
		case 5:
			if other := some(); len(other) > 0 {
				from := rng.IntN(len(other))
				toks = slices.Insert(toks, i, other[from:min(len(other), from+1+rng.IntN(10))]...)
			}
		}
	}
	return "_Z" + strings.Join(toks, "")
}

// Names that differ a little from others, as future compilers may write them.
func TestMutatedNames(t *testing.T) {
	thousands := 30
	if testenv.OracleFull() {
		thousands = 500
	}
	known, reasons := compareMutations(t, 1, 1000*thousands)
	for why, n := range reasons {
		t.Logf("%8d %s", n, why)
	}
	t.Logf("%d thousand mutations, %d of them names", thousands, known)
	if known < 50*thousands {
		t.Error("few names among them")
	}
}

// compareMutations compares n mutated names with the library. It returns how many of
// them are names, and how many differ for each reason.
func compareMutations(t testing.TB, seed uint64, n int) (known int, reasons map[string]int) {
	t.Helper()
	var names []string
	for _, name := range goldenNames(t) {
		if strings.HasPrefix(name.raw, "_Z") && len(name.raw) < 250 {
			names = append(names, name.raw)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	reasons = map[string]int{}
	d := new(decoder)
	for range n {
		raw := mutate(rng, names)
		if len(raw) > 300 {
			continue
		}
		if why := compareWithLibrary(t, d, raw); why != "" {
			reasons[why]++
		}
		if d.Failed {
			continue
		}
		// A valid name serves to make others.
		if known++; len(names) < 20000 {
			names = append(names, raw)
		} else {
			names[rng.IntN(len(names))] = raw
		}
	}
	return known, reasons
}

func FuzzMutatedNames(f *testing.F) {
	f.Add(uint64(2))
	f.Fuzz(func(t *testing.T, seed uint64) { compareMutations(t, seed, 2000) })
}

// FuzzDecoder compares the decoder with the library.
func FuzzDecoder(f *testing.F) {
	for _, name := range goldenNames(f) {
		f.Add(name.raw)
	}
	f.Add("_Z1AIXtlatlA_cLa-1EEEEE")
	f.Add("_Z1AIJ1AJEEET_1A")
	f.Add("_Z1AIJJE1BJEEET_1A")
	for _, name := range costlyNames {
		f.Add(name(5))
		f.Add(name(40))
	}
	d := new(decoder)
	f.Fuzz(func(t *testing.T, raw string) {
		if len(raw) <= 1000 {
			compareWithLibrary(t, d, raw)
		}
	})
}
