package cfi

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is the kind of fault in a rule set or an evaluation. errors.Is matches an
// *Error with its Kind.
type Kind uint8

// Faults of form, returned by ParseRules, ParseExpr and ParseProgram.
const (
	_ Kind = iota
	// Empty: a rule set without a rule, or a rule without an expression.
	Empty
	// NoRegister: an expression before the first register.
	NoRegister
	// NoName: a colon without a name before it.
	NoName
	// Colon: a name with a colon inside an expression.
	Colon
	// TooLong: more than 4096 tokens.
	TooLong
	// TooManyNames: more than 1048576 names.
	TooManyNames

	// Faults of evaluation, returned by Eval, Caller and Run.

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
	// Overflow: more than MaxDepth values on the stack.
	Overflow
	// Leftover: more than one value at the end of an expression, or any at the end of a
	// program.
	Leftover
	// DivisionByZero: / or % by 0.
	DivisionByZero
	// BadAlignment: @ with something other than a power of two.
	BadAlignment
	// Unreadable: ^ at an address without memory.
	Unreadable
	// Assignment: = in a rule, or to something other than a variable with "$".
	Assignment
)

var kindText = [...]string{
	Empty:          "no expression",
	NoRegister:     "no register before the expression",
	NoName:         "colon without a register",
	Colon:          "colon within an expression",
	TooLong:        "more than " + strconv.Itoa(maxTokens) + " tokens",
	TooManyNames:   "more than " + strconv.Itoa(maxNames) + " names",
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

// Error makes Kind a target for errors.Is.
func (k Kind) Error() string {
	if int(k) < len(kindText) && kindText[k] != "" {
		return kindText[k]
	}
	return "fault " + strconv.Itoa(int(k))
}

// Error is a fault at a position in a rule set, expression or program.
type Error struct {
	Kind  Kind
	Rule  string // register of the rule; empty for an expression by itself
	Token int    // position of the token in the set or, when evaluating, in the expression; from 1, or 0 for the whole
	Text  string // the token
	Value uint64 // the operand of DivisionByZero, BadAlignment and Unreadable
}

// Error returns the rule, the token and the fault.
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

// fault is an Error without its texts, so that it can be made without allocation.
type fault struct {
	kind  Kind
	token int
	value uint64
}

// error returns f as an Error. The expression starts at code.
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
