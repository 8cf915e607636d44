// Package pattern compiles regular expressions of files, within bounds of memory: a{1,900} has 1,800 instructions.
package pattern

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// The limits for the expressions of a file: MaxEach instructions each, and Free in total, plus two for each byte, which
// is the most that expressions without counted repetition need. Each byte of a name or a path may take as many steps as
// there are instructions. "^/home/worker/(.*)$" has 20; expressions above the limit are machine-made, or count with
// {1000}.
const (
	MaxEach = 10_000
	Free    = 1 << 16
	perByte = 2
	ends    = 2 // bytes added for each expression: an empty one has instructions, too

	// Expressions are expanded before their instructions are counted, unless an estimate is this many times the limit.
	writtenOut = 4

	// runesPerInstruction is the number of range limits, as in \pL, that take as much memory as one instruction.
	runesPerInstruction = 8
)

// Compiler compiles the expressions of one file. The zero Compiler is ready to use.
type Compiler struct {
	used, bytes int
}

// Compile compiles an expression in the syntax of package regexp, and counts it as one of the file.
func (c *Compiler) Compile(expr string) (*regexp.Regexp, error) {
	if err := c.Check(expr); err != nil {
		return nil, err
	}
	return regexp.Compile(expr)
}

// Check returns an error if expr is not a valid expression, or too large. It counts the expression as one of the file.
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

// longest is the number of bytes of an expression that a message shows.
const longest = 200 // bytes

// shortened returns an error of package syntax with a long expression cut short.
func shortened(err error) error {
	var bad *syntax.Error
	if errors.As(err, &bad) && len(bad.Expr) > longest {
		return &syntax.Error{Code: bad.Code, Expr: bad.Expr[:longest] + "..."}
	}
	return err
}

// enough is where an estimate stops, so that it does not overflow.
const enough = 1 << 30

// estimate returns the approximate number of instructions of an expression, without expanding repetitions.
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
