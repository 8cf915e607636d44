package cfi

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of fault in a rule set or an evaluation. errors.Is finds it in
// an *Error.
type Kind uint8

// Faults of form: ParseRules, ParseExpr and ParseProgram return them.
const (
	_ Kind = iota
	// Empty: a rule set without a rule, or a rule without an expression.
	Empty
	// NoRegister: an expression in front of the first register.
	NoRegister
	// NoName: a colon without a name in front of it.
	NoName
	// Colon: a name with a colon within an expression.
	Colon
	// TooLong: more than MaxTokens tokens.
	TooLong
	// TooManyNames: more than MaxNames names.
	TooManyNames

	// Faults of evaluation.

	// NoCFARule, NoRARule: the row lacks the rule.
	NoCFARule
	NoRARule
	// BadConstant: a constant that is not decimal or does not fit the word.
	BadConstant
	// Unknown: a register or variable without a value.
	Unknown
	// Undefined: the rule is .undef.
	Undefined
	// Underflow: an operator without enough operands.
	Underflow
	// Overflow: more than MaxDepth values at a time.
	Overflow
	// Leftover: more than one value at the end, or in a program any.
	Leftover
	// DivisionByZero: / or % with 0.
	DivisionByZero
	// BadAlignment: @ with something else than a power of two.
	BadAlignment
	// Unreadable: ^ where there is no memory.
	Unreadable
	// Assignment: = in a rule, or to something that is not a variable with "$".
	Assignment
)

var kindText = [...]string{
	Empty:          "no expression",
	NoRegister:     "no register before the expression",
	NoName:         "colon without a register",
	Colon:          "colon within an expression",
	TooLong:        "more than " + strconv.Itoa(MaxTokens) + " tokens",
	TooManyNames:   "more than " + strconv.Itoa(MaxNames) + " names",
	NoCFARule:      "no rule for .cfa",
	NoRARule:       "no rule for .ra",
	BadConstant:    "not a decimal constant of the CPU's word",
	Unknown:        "value is not known",
	Undefined:      "not recoverable",
	Underflow:      "too few operands",
	Overflow:       "more than " + strconv.Itoa(MaxDepth) + " values on the stack",
	Leftover:       "values left on the stack",
	DivisionByZero: "division by zero",
	BadAlignment:   "alignment is not a power of two",
	Unreadable:     "no memory",
	Assignment:     "cannot be assigned",
}

// Error makes Kind a target of errors.Is.
func (k Kind) Error() string {
	if int(k) < len(kindText) && kindText[k] != "" {
		return kindText[k]
	}
	return "fault " + strconv.Itoa(int(k))
}

// Error is a fault at a place of a rule set, expression or program.
type Error struct {
	Kind  Kind
	Rule  string // register whose rule it is; empty for an expression alone
	Token int    // number of the token in the set, or when evaluating in the expression; from 1, 0 for the whole
	Text  string // the token
	Value uint64 // the operand of DivisionByZero, BadAlignment and Unreadable
}

// Error returns rule, token, and fault.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Rule != "" {
		b.WriteString(e.Rule)
		b.WriteString(": ")
	}
	if e.Token > 0 {
		fmt.Fprintf(&b, "token %d %q: ", e.Token, e.Text)
	}
	b.WriteString(e.Kind.Error())
	switch e.Kind {
	case BadAlignment:
		fmt.Fprintf(&b, ": %d", e.Value)
	case Unreadable:
		fmt.Fprintf(&b, " at %#x", e.Value)
	}
	return b.String()
}

// Unwrap returns the Kind.
func (e *Error) Unwrap() error { return e.Kind }

// fault is an Error without the texts, to be made without allocation.
type fault struct {
	kind  Kind
	token int
	value uint64
}

// error gives f its texts. The expression starts at code.
func (f fault) error(n *Names, rule Reg, code []uint32) error {
	if f.kind == 0 {
		return nil
	}
	e := &Error{Kind: f.kind, Token: f.token, Value: f.value}
	if rule != NoReg {
		e.Rule = n.Name(rule)
	}
	token := 0
	for len(code) > 0 {
		size := opSize(code[0])
		if token++; token == f.token {
			e.Text = string(appendOp(nil, n, code))
		}
		code = code[size:]
	}
	return e
}
