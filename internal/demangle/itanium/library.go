package itanium

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/symtool/symtool/internal/demangle/mangled"
)

// libraryOptions are the options with which C++ names equal c++filt's, which prints standard
// substitutions in full (std::basic_string<char, ...>), by bits.Len of the allowed length.
// Names of Rust are handled elsewhere.
var libraryOptions = make([][]demangle.Option, bits.Len(mangled.MaxDemangled))

func init() {
	for pow := 1; pow < len(libraryOptions); pow++ {
		libraryOptions[pow] = []demangle.Option{demangle.Verbose, demangle.NoRust, demangle.MaxLength(pow)}
	}
}

// appendByLibrary appends the source form of a name of the Itanium ABI. For each node, the
// library examines all nodes around it, and it copies what a substitution refers to; the cost
// is estimated first. If the library panics, the name stays as it is.
func appendByLibrary(dst []byte, raw string, as style) (out []byte, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, mangled.ErrNotMangled
		}
	}()
	limit, most := mangled.StepsAllowed(raw), mangled.LengthAllowed(raw)
	nodes, references := len(raw), referencesOf(raw)
	if nodes*nodes > limit {
		nodes = nodesOf(raw) // fewer
	}
	if nodes*references/referenceShare > limit {
		return nil, mangled.ErrCostly
	}
	options := libraryOptions[bits.Len(uint(most))]
	if as == asLLVM {
		options = append(slices.Clip(options[1:]), demangle.LLVMStyle)
	}
	tree, err := demangle.ToAST(raw, options...)
	if err != nil {
		return nil, mangled.ErrNotMangled
	}
	// Without references nothing is printed twice, so each node is inside at most all the
	// others.
	if nodes*nodes > limit || references > fewReferences {
		if cost := (printing{}).of(tree); cost.steps > limit || cost.nodes > most {
			return nil, mangled.ErrCostly
		}
	}
	name := demangle.ASTToString(tree, options...)
	if len(name) > most {
		return nil, mangled.ErrCostly
	}
	return append(dst, name...), nil
}

// fewReferences is a number of references that cannot make a name much too long.
const fewReferences = 16

// printCost is the cost of printing a node: the number of nodes below it, each counted as
// often as it is printed, and the sum of the numbers of nodes around each.
type printCost struct{ nodes, steps int }

// printing maps nodes to their costs. Nodes that several others refer to are examined once.
type printing map[demangle.AST]printCost

const mostSteps = 1 << 40 // saturation of the sum

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

// nodesOf estimates how many nodes a name has: the number of its bytes outside identifiers.
// A number before an E or _ is not the length of an identifier.
func nodesOf(raw string) (n int) {
	for i := 0; i < len(raw); {
		start, size := i, 0
		for ; i < len(raw) && mangled.IsDigit(raw[i]) && size < mangled.MaxMangled; i++ {
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

// referencesOf counts possible substitutions and template parameters. St is std, not a
// substitution.
func referencesOf(raw string) int {
	return strings.Count(raw, "S") - strings.Count(raw, "St") + strings.Count(raw, "T")
}
