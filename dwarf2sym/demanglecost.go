package dwarf2sym

import (
	"math/bits"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// A mangled name of n bytes may stand for 2^n, as substitutions nest, and may cost
// the demangler the square of n: it looks at each node that another is printed in,
// and copies what a substitution refers to. So each name may take as many steps as
// its length allows, which ties the work on all names of a file to their bytes.
// What takes more stays mangled.
//
// The names of libLLVM, libclang-cpp and libstdc++ take 2 steps a byte, the worst
// of them 41, and become 2 times as long, at most 18 times.
const (
	stepsPerByte = 128
	leastSteps   = 16 << 10
	growth       = 32 // bytes of a demangled name for a byte of the mangled one
	leastGrown   = 2 << 10
)

func stepsAllowed(raw string) int { return leastSteps + stepsPerByte*len(raw) }

// lengthAllowed is below maxDemangled.
func lengthAllowed(raw string) int { return min(leastGrown+growth*len(raw), maxDemangled-1) }

// demangleOptions make C++ names equal to c++filt's, which prints standard
// substitutions in full (std::basic_string<char, ...>). Rust names do not get
// that far. By bits.Len of the length that is allowed.
var demangleOptions [demangledPow + 1][]demangle.Option

func init() {
	for pow := 1; pow < len(demangleOptions); pow++ {
		demangleOptions[pow] = []demangle.Option{demangle.Verbose, demangle.NoRust, demangle.MaxLength(pow)}
	}
}

// demangleCPP demangles a name of the Itanium ABI. costly reports that it would
// take more than its length allows.
func demangleCPP(raw string) (name string, ok, costly bool) {
	limit, most := stepsAllowed(raw), lengthAllowed(raw)
	nodes, references := len(raw), referencesOf(raw)
	if nodes*nodes > limit {
		nodes = nodesOf(raw) // fewer
	}
	if nodes*references/referenceShare > limit {
		return "", false, true
	}
	options := demangleOptions[bits.Len(uint(most))]
	trees, err := cxxTrees(raw, options)
	if err != nil {
		return "", false, false
	}
	for i, ast := range trees {
		// Without references nothing is printed twice: no node is in more than all others.
		if nodes*nodes > limit || references > fewReferences {
			if cost := (printing{}).of(ast); cost.steps > limit || cost.nodes > most {
				return "", false, true
			}
		}
		text := demangle.ASTToString(ast, options...)
		if i > 0 && text != name {
			return "", false, false
		}
		name = text
	}
	return name, name != "", len(name) > most
}

// fewReferences is how many references cannot make a name much too long.
const fewReferences = 16

// printCost is what printing a node takes: the nodes below it, each as often as it
// is printed, and the sum of how many nodes each is printed in.
type printCost struct{ nodes, steps int }

// printing is the cost of nodes. Those that several refer to are looked at once.
type printing map[demangle.AST]printCost

const mostSteps = 1 << 40 // more is as much

func (p printing) of(ast demangle.AST) printCost {
	if cost, ok := p[ast]; ok {
		return cost
	}
	p[ast] = printCost{} // a cycle is printed once
	cost := printCost{1, 1}
	entered := false
	ast.Traverse(func(child demangle.AST) bool {
		if !entered {
			entered = true // child is ast
			return true
		}
		below := p.of(child)
		cost.nodes = min(cost.nodes+below.nodes, mostSteps)
		cost.steps = min(cost.steps+below.steps+below.nodes, mostSteps)
		return false
	})
	p[ast] = cost
	return cost
}

// nodesOf estimates how many nodes a name has: its bytes without those of
// identifiers. A number before an E or _ is not the length of an identifier.
func nodesOf(raw string) (n int) {
	for i := 0; i < len(raw); {
		start, size := i, 0
		for ; i < len(raw) && isDigitByte(raw[i]) && size < maxMangled; i++ {
			size = 10*size + int(raw[i]-'0')
		}
		switch {
		case i == start:
			i++
			n++
		case i < len(raw) && raw[i] != 'E' && raw[i] != '_' && size <= len(raw)-i:
			i += size
			n++
		default:
			n += i - start
		}
	}
	return n
}

// referenceShare is how many nodes are copied in the time of a step.
const referenceShare = 4

// referencesOf counts what may be substitutions and template parameters. St is std.
func referencesOf(raw string) int {
	return strings.Count(raw, "S") - strings.Count(raw, "St") + strings.Count(raw, "T")
}
