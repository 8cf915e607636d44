// Package pattern compiles regular expressions of files, within bounds of memory: a{1,900} has 1,800 instructions.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// What the expressions of a file may have: MaxEach instructions each, and Free in all, with two more for each byte, which is
// what expressions without repetition counts have at most. A name or a path may cost all instructions for each byte.
// "^/home/worker/(.*)$" has 20; larger expressions than these are machine-made, or count with {1000}.
const (
	MaxEach = 10_000
	Free    = 1 << 16
	perByte = 2
	ends    = 2 // bytes that count for each in addition: an empty expression has instructions, too

	// Expressions are written out before their instructions can be counted, unless an estimate is this many times the limit.
	writtenOut = 4

	// runesPerInstruction is how many limits of ranges, as \pL has, take the memory of an instruction.
	runesPerInstruction = 8
)

// Compiler compiles the expressions of one file. The zero Compiler is ready to use.
type Compiler struct {
	used, bytes int
}

// Compile compiles an expression in the syntax of package regexp.
func (c *Compiler) Compile(expr string) (*regexp.Regexp, error) {
	if err := c.Check(expr); err != nil {
		return nil, err
	}
	return regexp.Compile(expr)
}

// Check returns why an expression is none, or too large, and counts it as one of the file.
func (c *Compiler) Check(expr string) error {
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return shortened(err)
	}
	n := estimate(parsed)
	if n <= writtenOut*MaxEach {
		prog, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			return err
		}
		n = len(prog.Inst)
	}
	if n > MaxEach {
		return fmt.Errorf("the regular expression has %d instructions, want at most %d: use smaller repetition counts", n, MaxEach)
	}
	c.used, c.bytes = c.used+n, c.bytes+len(expr)+ends
	if limit := Free + perByte*c.bytes; c.used > limit {
		return fmt.Errorf("the regular expressions up to this one have %d instructions, want at most %d: use smaller repetition counts", c.used, limit)
	}
	return nil
}

// longest is how much of an expression is in a message.
const longest = 200 // bytes

// shortened is an error of package syntax without most of an expression that is long.
func shortened(err error) error {
	var bad *syntax.Error
	if errors.As(err, &bad) && len(bad.Expr) > longest {
		return &syntax.Error{Code: bad.Code, Expr: bad.Expr[:longest] + "..."}
	}
	return err
}

// enough is where an estimate ends, so that it does not overflow.
const enough = 1 << 30

// estimate returns about how many instructions an expression has, without writing out what it repeats.
func estimate(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)/runesPerInstruction
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+estimate(sub), enough)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(1, re.Min, re.Max), enough)
	}
	return n
}
