package facts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/symtool/symtool/symfmt/cfi"
)

// RuleFault is a fault in the text of STACK CFI rules.
type RuleFault struct {
	Field int // index of the token, from 0
	Text  string
}

// checkExpr returns the fault that prevents an expression from having a value, whatever the
// registers hold, or nil.
func checkExpr(e cfi.Expr) *RuleFault {
	if err := e.Check(); err != nil {
		f := exprFault(err)
		return &f
	}
	return checkTokens(e)
}

// exprFault converts an error of the parser or of cfi.Expr.Check to a fault. Its Field is the
// number of the token, from 1.
func exprFault(err error) RuleFault {
	var ce *cfi.Error
	if !errors.As(err, &ce) {
		return RuleFault{-1, err.Error()}
	}
	text := ce.Kind.Error()
	if ce.Token > 0 {
		text = quote(ce.Text) + ": " + text
	}
	if ce.Rule != "" {
		text = quote(ce.Rule) + ": " + text
	}
	return RuleFault{ce.Token, text}
}

// checkTokens finds an operand that its operator does not accept.
func checkTokens(e cfi.Expr) *RuleFault {
	if e.IsUndef() {
		return nil
	}
	before := ""
	for i, token := range strings.Fields(e.String()) {
		switch token {
		case ".undef":
			return &RuleFault{i + 1, ".undef within an expression"}
		case "/", "%":
			if before == "0" {
				return &RuleFault{i + 1, "division by zero"}
			}
		case "@":
			if v, ok := constToken(before); ok && (v == 0 || v&(v-1) != 0) {
				return &RuleFault{i + 1, "alignment " + before + " is not a power of two"}
			}
		}
		before = token
	}
	return nil
}

// constToken parses a constant in the form of cfi.Expr.String.
func constToken(token string) (uint64, bool) {
	var v int64
	n, err := fmt.Sscan(token, &v)
	return uint64(v), n == 1 && err == nil
}

// ruleStarts returns the indices of the tokens that name registers.
func ruleStarts(text string) (starts []int) {
	n := 0
	for token := range strings.FieldsSeq(text) {
		if token[len(token)-1] == ':' {
			starts = append(starts, n)
		}
		n++
	}
	return starts
}

// faultField returns the index of the token with a syntax fault. If a rule has no expression, that
// is the token of its register.
func faultField(text string, err error) int {
	if f := exprFault(err); f.Field > 0 {
		return f.Field - 1
	}
	starts := ruleStarts(text)
	for i, at := range starts {
		if i+1 < len(starts) && starts[i+1] == at+1 {
			return at
		}
	}
	if len(starts) == 0 {
		return 0
	}
	return starts[len(starts)-1]
}

// MaxQuoted is the length at which messages cut a text.
const MaxQuoted = 40

// quote formats a name for messages: unchanged if it is plain, otherwise escaped and shortened.
func quote(name string) string {
	plain := len(name) <= MaxQuoted
	for i := range len(name) {
		plain = plain && name[i] > ' ' && name[i] < 0x7f
	}
	if plain {
		return name
	}
	if len(name) > MaxQuoted {
		return fmt.Sprintf("%q...", name[:MaxQuoted])
	}
	return fmt.Sprintf("%q", name)
}
