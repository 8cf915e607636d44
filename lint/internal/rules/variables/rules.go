// Package variables implements the rules of the family variables: the records INFO VAR, in a symbol file or
// in a file of their own.
package variables

import (
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/symfmt"
)

// tables is the beginning of the examples: a function whose variable x has type 1 and lies 14 bytes below
// the frame base.
const (
	tables = "INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR E cfa f:-14 r:5\nINFO VAR V l1:x\nINFO VAR G 1\n"
	good   = check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=2\n"

	docs   = "docs/variables.md"
	dwarf5 = "DWARF 5, 2.5 and 2.6"
)

// firstTable is the line of the first record of tables in an example that begins with check.HeadFunc and
// check.Init.
const firstTable = 5

// rule returns a rule of the family. All of them are checked together.
func rule(r finding.Rule) *check.Rule {
	r.Since = "0.1"
	if r.Good == "" {
		r.Good = good
	}
	return &check.Rule{
		Rule: &r, On: []symfmt.Kind{symfmt.KindInfo, symfmt.KindFunc, symfmt.KindInline}, Check: watch,
	}
}

// The rules.
const (
	badRecord   = "SYM801"
	undeclared  = "SYM802"
	twice       = "SYM803"
	unknown     = "SYM804"
	noFunc      = "SYM805"
	inlines     = "SYM806"
	outside     = "SYM807"
	stray       = "SYM808"
	badExpr     = "SYM809"
	mixedTypes  = "SYM810"
	endlessType = "SYM811"
	longMember  = "SYM812"
)

// Rules are the rules of the family, by ID.
var Rules = []*check.Rule{
	rule(finding.Rule{
		ID: badRecord, Title: "unreadable record of variables", Severity: finding.Error, Spec: docs,
		Doc: `Readers leave out what they cannot read: a type without contents, a variable without a
value, or a function without variables. Column and message say which part is wrong.`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: undeclared, Title: "number that no record of variables declares", Severity: finding.Error, Spec: docs,
		Doc: `The n-th type, expression, variable and group has the number n, and F records may only use
those before them. A missing type is shown as void; a function with a missing
expression or group has no variables. Was the file cut, or were lines removed?`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=4\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: twice, Title: "variables of the same code twice", Severity: finding.Error, Spec: docs,
		Doc: "The code of an F record overlaps with that of another: readers use the first of the two.",
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=2\nINFO VAR F 1000 40 1 1=3\n", At: firstTable + 6,
	}),
	rule(finding.Rule{
		ID: unknown, Title: "record of variables that readers pass over", Severity: finding.Note, Spec: docs,
		Doc: `Its version or its first word is unknown, or it comes before the record with the version.
It may be of a later version of the format. Reported once.`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=2\nINFO VAR Q 1 2\n", At: firstTable + 6,
	}),
	rule(finding.Rule{
		ID: noFunc, Title: "variables without their FUNC", Severity: finding.Error, Spec: docs,
		Doc: `An F record has the variables of the FUNC with its address and its size. Without one,
walks never show them, and inlined calls cannot be found. The records may be of
another build, or the FUNC was removed. A file that has only variables is not checked.`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 44 1 1=2\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: inlines, Title: "variables of an INLINE that the FUNC does not have", Severity: finding.Error, Spec: docs,
		Doc: `Scopes of inlined calls name the INLINE records of their FUNC by their order, and the FUNC
has fewer: variables are shown at the wrong call, or not at all. Were INLINEs removed or
joined after the records had been written?`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1 1=2(1=3)\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: outside, Title: "range of variables outside its function", Severity: finding.Warning, Spec: docs,
		Doc: `A lexical block, an entry of a location list or the return address of a call is not in
the code of the F record, so nothing ever finds it. The distance may be counted from
the wrong place: all count from the start of the FUNC.`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1/i0i1 1h2h3\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: stray, Title: "lexical block outside the scope around it", Severity: finding.Note, Spec: docs,
		Doc: `A block has code that the block around it does not have. There, its variables are not
shown. Reported once for a function.`,
		Bad: check.HeadFunc + check.Init + tables + "INFO VAR F 1000 40 1/h0888 1=2{Hi1=2{Hi1=2}}\n", At: firstTable + 5,
	}),
	rule(finding.Rule{
		ID: badExpr, Title: "expression without a value", Severity: finding.Warning, Spec: dwarf5,
		Doc: `No evaluator finds a value: an operation needs more entries than the stack has, branches
meet with different stacks, a type is not a number, something comes after the end of
a location, or nothing is left. The variables that use it have no value. Some of gcc's
are like that: of thread-local variables, whose offset comes after the operation that
needs it, and of bitwise operations on floating-point numbers.`,
		Bad: check.HeadFunc + check.Init + "INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR E c:4,plus,v\nINFO VAR V l1:x\n" +
			"INFO VAR G 1\nINFO VAR F 1000 40 0 1=1\n", At: firstTable + 2,
	}),
	rule(finding.Rule{
		ID: mixedTypes, Title: "expression with operands of different types", Severity: finding.Note, Spec: "DWARF 5, 2.5.1.4",
		Doc: `Both operands must have the same type. clang and rustc mix integers of a type with those
without one: symtool takes the typed one's type, and gdb shows no value.`,
		Bad: check.HeadFunc + check.Init + "INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR E r:5 tr:5:1,c:4,plus,v\nINFO VAR V l1:x\n" +
			"INFO VAR G 1\nINFO VAR F 1000 40 0 1=2\n", At: firstTable + 2,
	}),
	rule(finding.Rule{
		ID: endlessType, Title: "type that contains itself", Severity: finding.Error, Spec: docs,
		Doc: `A structure has a member of its own type, or a typedef names itself, with no pointer in
between: the type has no size, and its values cannot be shown.`,
		Bad: check.HeadFunc + check.Init + "INFO VAR 1 all full\nINFO VAR T s#8 \"list .1:next\nINFO VAR E cfa f:-14\nINFO VAR V l1:x\n" +
			"INFO VAR G 1\nINFO VAR F 1000 40 1 1=2\n", At: firstTable + 1,
	}),
	rule(finding.Rule{
		ID: longMember, Title: "member outside its type", Severity: finding.Warning, Spec: docs,
		Doc: `A member ends after the end of the structure: its value is that of other bytes, or is
missing.`,
		Bad: check.HeadFunc + check.Init + "INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR T s#6 \"pair .1:a .1@4:b\n" +
			"INFO VAR E cfa f:-14\nINFO VAR V l2:x\nINFO VAR G 1\nINFO VAR F 1000 40 1 1=2\n", At: firstTable + 2,
	}),
}
