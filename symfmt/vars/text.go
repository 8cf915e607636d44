package vars

import (
	"cmp"
	"math/bits"
	"strconv"
)

// The records are lines "INFO VAR word ..." of a symbol file, after its last other record, or of
// a separate file with the same MODULE record. Numbers are hexadecimal. The words are in this
// order:
//
//	1 [all] [full]    the version and the contents: local variables, complete types
//	T type            a type; the n-th has number n, as in the other tables
//	E expr ...        expressions
//	V variable ...    variables
//	G group ...       groups
//	R entry ...       types by the addresses at which the program describes them
//	L letter          the language of the functions after it
//	F rva size frame[/boundaries] scopes [entry] [sites]    the variables of a function
//	+ text            continues the F before it
//
// Readers skip unknown words. docs/variables.md has the grammar.

// version is the version of the records that are written.
const version = 1

// Words of the records.
const (
	wordType  = 'T'
	wordExpr  = 'E'
	wordVar   = 'V'
	wordGroup = 'G'
	wordRun   = 'R'
	wordFunc  = 'F'
	wordLang  = 'L'
	wordMore  = '+'
)

// words are the words of all records.
var words = []byte{wordType, wordExpr, wordVar, wordGroup, wordRun, wordFunc, wordLang, wordMore}

// lineSize is the approximate maximum length of a line, because some readers have a buffer of
// fixed size for it.
const lineSize = 4 << 10

// Key is the key of the INFO records, and Prefix the beginning of each.
const (
	Key    = "VAR"
	Prefix = "INFO " + Key + " "
)

const hexDigits = "0123456789abcdef"

// appendHex appends n in hexadecimal, in half the time of strconv.AppendUint.
func appendHex(dst []byte, n uint64) []byte {
	if n < 16 {
		return append(dst, hexDigits[n])
	}
	for shift := (bits.Len64(n) - 1) &^ 3; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[n>>shift&15])
	}
	return dst
}

// The F records have three kinds of hexadecimal digits, so that nothing needs to separate most numbers: 0 to f, g to v and
// G to V.
const (
	lowDigits  = 'g'
	highDigits = 'G'
)

// appendDigits appends n in the digits that begin with zero.
func appendDigits(dst []byte, n uint64, zero byte) []byte {
	for shift := (bits.Len64(n|1) - 1) &^ 3; shift >= 0; shift -= 4 {
		dst = append(dst, zero+byte(n>>shift&15))
	}
	return dst
}

// appendBoundary appends n with all digits but the last from g to v.
func appendBoundary(dst []byte, n uint64) []byte {
	if n >= 16 {
		dst = appendDigits(dst, n>>4, lowDigits)
	}
	return append(dst, hexDigits[n&15])
}

// appendSkip appends n in digits from G to V, after "~" if it is negative, or nothing if it is 0.
func appendSkip(dst []byte, n int64) []byte {
	if n < 0 {
		return appendDigits(append(dst, '~'), uint64(-n), highDigits)
	}
	if n > 0 {
		return appendDigits(dst, uint64(n), highDigits)
	}
	return dst
}

func appendSigned(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 16) }

// appendName appends a name without blanks: ~ stands for a space, and % precedes the two digits
// of any other byte that must be escaped.
func appendName(dst []byte, name string) []byte {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == ' ':
			dst = append(dst, '~')
		case c < ' ' || c == 0x7f || c == '%' || c == '~':
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// Pieces returns the number of pieces in which Append formats the text. Each can be formatted
// independently.
func (in *Info) Pieces() int {
	if in == nil {
		return 0
	}
	return 1 + in.typePieces() + tables + (len(in.Funcs)+funcsInPiece-1)/funcsInPiece
}

// Pieces have a few hundred KB. A table with several entries on a line is a single piece, because its
// line ends depend on all earlier entries.
const (
	typesInPiece = 2048
	tables       = 4 // expressions, variables, groups, types at run time
	funcsInPiece = 256
)

// typePieces returns the number of pieces with types. The first one begins with type 0, which is
// not written.
func (in *Info) typePieces() int { return (len(in.Types) + typesInPiece - 1) / typesInPiece }

// Append appends a piece of the text of in.
func (in *Info) Append(dst []byte, piece int) []byte {
	if piece == 0 {
		return in.appendHead(dst)
	}
	piece--
	if piece < in.typePieces() {
		return in.appendTypes(dst, max(piece*typesInPiece, 1), min((piece+1)*typesInPiece, len(in.Types)))
	}
	switch piece -= in.typePieces(); piece {
	case 0:
		var ops []Op
		return appendTokens(dst, wordExpr, len(in.Exprs), func(dst []byte, i int) []byte {
			ops = in.Exprs[i].appendTo(ops[:0])
			return appendOpsText(dst, ops)
		})
	case 1:
		return appendTokens(dst, wordVar, len(in.Vars), func(dst []byte, i int) []byte { return appendVarText(dst, &in.Vars[i]) })
	case 2:
		return appendTokens(dst, wordGroup, len(in.Groups), func(dst []byte, i int) []byte { return appendGroupText(dst, in.Groups[i]) })
	case 3:
		return appendTokens(dst, wordRun, len(in.RuntimeTypes)+1, func(dst []byte, i int) []byte {
			last := RVA(0)
			if i > 1 {
				last = in.RuntimeTypes[i-2].RVA
			}
			t := in.RuntimeTypes[i-1]
			return appendHex(append(appendHex(dst, uint64(t.RVA-last)), ':'), uint64(t.Type))
		})
	}
	from := (piece - tables) * funcsInPiece
	return in.appendFuncs(dst, from, min(from+funcsInPiece, len(in.Funcs)))
}

// appendHead appends the record with the version.
func (in *Info) appendHead(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, Prefix...), version, 16)
	if in.Locals {
		dst = append(dst, " all"...)
	}
	if in.FullTypes {
		dst = append(dst, " full"...)
	}
	return append(dst, '\n')
}

// appendTypes appends types from up to end.
func (in *Info) appendTypes(dst []byte, from, end int) []byte {
	for i := from; i < end; i++ {
		dst = append(append(dst, Prefix...), wordType, ' ')
		dst = append(appendTypeText(dst, &in.Types[i]), '\n')
	}
	return dst
}

// appendFuncs appends functions from up to end.
func (in *Info) appendFuncs(dst []byte, from, end int) []byte {
	for i := from; i < end; i++ {
		if f := &in.Funcs[i]; i == 0 && f.Language != 0 || i > 0 && f.Language != in.Funcs[i-1].Language {
			dst = append(append(dst, Prefix...), wordLang, ' ', cmp.Or(byte(f.Language), '-'), '\n')
		}
		dst = in.appendFunc(dst, &in.Funcs[i])
	}
	return dst
}

// appendTokens appends entries 1 to n-1 of a table, several on a line.
func appendTokens(dst []byte, word byte, n int, add func([]byte, int) []byte) []byte {
	start := 0
	for i := 1; i < n; i++ {
		if i == 1 || len(dst)-start > lineSize {
			if i > 1 {
				dst = append(dst, '\n')
			}
			start = len(dst)
			dst = append(append(dst, Prefix...), word)
		}
		dst = add(append(dst, ' '), i)
	}
	if n > 1 {
		dst = append(dst, '\n')
	}
	return dst
}

// appendVarText appends p or l (P, L: made by the compiler), the type, "+" and the label if there is
// one, ":" and the name.
func appendVarText(dst []byte, v *Variable) []byte {
	letter := byte('l')
	if v.Param {
		letter = 'p'
	}
	if v.Artificial {
		letter &^= 'a' - 'A'
	}
	dst = appendHex(append(dst, letter), uint64(v.Type))
	if v.Label != 0 {
		dst = appendHex(append(dst, '+'), uint64(v.Label))
	}
	return appendName(append(dst, ':'), v.Name)
}

// appendGroupText appends variables separated by commas. A variable that follows the one before
// in the table is written as nothing.
func appendGroupText(dst []byte, group []VarID) []byte {
	last := VarID(0)
	if len(group) == 0 { // a group that could not be read, and that nothing refers to
		return append(dst, '0')
	}
	for i, v := range group {
		if i > 0 {
			dst = append(dst, ',')
		}
		if i == 0 || v != last+1 {
			dst = appendHex(dst, uint64(v))
		}
		last = v
	}
	return dst
}

// opNames are the words of the operations.
var opNames = [...]string{
	OpUnsupported: "unsupported", OpConst: "c", OpAddr: "a", OpBreg: "b", OpFbreg: "f", OpCFA: "cfa", OpObjectAt: "object", OpTLS: "tls",
	OpDeref: "d", OpDup: "dup", OpDrop: "drop", OpOver: "over", OpPick: "pick", OpSwap: "swap", OpRot: "rot", OpAbs: "abs", OpAnd: "and",
	OpDiv: "div", OpMinus: "minus", OpMod: "mod", OpMul: "mul", OpNeg: "neg", OpNot: "not", OpOr: "or", OpPlus: "plus", OpPlusConst: "p",
	OpShl: "shl", OpShr: "shr", OpShra: "shra", OpXor: "xor", OpEq: "eq", OpGe: "ge", OpGt: "gt", OpLe: "le", OpLt: "lt", OpNe: "ne",
	OpSkip: "skip", OpBranch: "branch", OpReg: "r", OpStackValue: "v", OpImplicitValue: "value", OpConstValue: "const", OpConstNumber: "number", OpConstSigned: "signed",
	OpPiece: "piece", OpBitPiece: "bits", OpImplicitPointer: "pointer", OpEntryValue: "entry", OpCall: "call", OpVariableValue: "variable", OpParam: "param",
	OpConstType: "tc", OpRegType: "tr", OpDerefType: "td", OpConvert: "convert", OpReinterpret: "reinterpret",
}

// String returns the word of an operation.
func (c OpCode) String() string {
	if int(c) < len(opNames) {
		return opNames[c]
	}
	return "op" + strconv.Itoa(int(c))
}

// String returns the expression in the form of the records.
func (e Expr) String() string { return string(appendOpsText(nil, e.Ops())) }

// appendOpsText appends operations separated by commas: the word, followed by ":" and each
// operand.
func appendOpsText(dst []byte, ops []Op) []byte {
	for i := range ops {
		op := &ops[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, opNames[op.Code]...)
		has := parts[op.Code]
		if op.Code == OpEntryValue {
			dst = append(appendOpsText(append(dst, '('), op.Sub), ')')
			continue
		}
		if has&hasReg != 0 {
			dst = appendHex(append(dst, ':'), uint64(op.Reg))
		}
		if has&hasU != 0 {
			dst = appendHex(append(dst, ':'), op.U)
		}
		if has&hasS != 0 {
			dst = appendSigned(append(dst, ':'), op.S)
		}
		if has&hasTo != 0 {
			dst = appendHex(append(dst, ':'), uint64(op.To))
		}
		if has&hasType != 0 {
			dst = appendHex(append(dst, ':'), uint64(op.Type))
		}
		if has&hasLabel != 0 {
			dst = appendHex(append(dst, ':'), uint64(op.Label))
		}
		if has&hasExpr != 0 {
			dst = appendHex(append(dst, ':'), uint64(op.Expr))
		}
		if has&hasData != 0 {
			dst = append(dst, ':')
			for _, b := range op.Data {
				dst = append(dst, hexDigits[b>>4], hexDigits[b&15])
			}
		}
	}
	return dst
}

// appendFunc appends the record of a function, on several lines if it is long.
func (in *Info) appendFunc(dst []byte, f *Func) []byte {
	dst = append(append(dst, Prefix...), wordFunc, ' ')
	dst = append(appendHex(dst, uint64(f.RVA)), ' ')
	dst = append(appendHex(dst, f.Size), ' ')
	l := lineWriter{dst: appendHex(dst, uint64(f.FrameBase))}
	l.start = len(l.dst)
	if f.Body.scopes == "" {
		l.dst = append(l.dst, " -"...)
	} else {
		u := unpacker{data: f.Body.scopes, lastInline: -1}
		l.boundaries(&u)
		l.dst = append(l.dst, ' ')
		l.scope(in, &u)
	}
	if f.EntryAt != 0 {
		l.dst = appendSigned(append(l.dst, " ^"...), f.EntryAt)
	}
	u, n := f.sites()
	if n > 0 {
		l.wrap() // not after the space: readers may drop spaces at the ends of lines
		l.dst = append(l.dst, ' ')
	}
	var params [8]SiteParam // of one call, in turn
	for last := f.RVA; n > 0; n-- {
		s := u.site(f.RVA, last, params[:0])
		l.site(&s, last)
		last = s.Return
		if n > 1 {
			l.wrap()
		}
	}
	return append(l.dst, '\n')
}

// lineWriter writes the scopes and sites of a function.
type lineWriter struct {
	dst   []byte
	start int
}

// wrap begins another line if this one is long.
func (l *lineWriter) wrap() {
	if len(l.dst)-l.start > lineSize {
		l.dst = append(append(append(l.dst, '\n'), Prefix...), wordMore, ' ')
		l.start = len(l.dst)
	}
}

// boundaries appends "/" and the distances between the boundaries, if there are any.
func (l *lineWriter) boundaries(u *unpacker) {
	n := u.uvarint()
	if n > 0 {
		l.dst = append(l.dst, '/')
	}
	for ; n > 0; n-- {
		l.wrap()
		l.dst = appendBoundary(l.dst, u.uvarint())
	}
}

// scope appends a scope: its identification, its group, a location for each variable, and the
// scopes in it. An inline scope is "(" and ":", with the distance between them unless its INLINE
// directly follows the one of the inline scope before it; a block is "{" and ranges.
func (l *lineWriter) scope(in *Info, u *unpacker) {
	cursor := u.cursor
	end := byte(0)
	switch ScopeKind(u.byte() - 1) {
	case InlineScope:
		end = ')'
		before := u.lastInline
		l.dst = append(l.dst, '(')
		if by := u.inline() - before; by != 1 {
			l.dst = append(appendSigned(l.dst, int64(by)), ':')
		}
	case BlockScope:
		end = '}'
		l.dst = append(l.dst, '{')
		for i, n := uint64(0), u.uvarint(); i < n; i++ {
			l.wrap()
			_, size := l.span(u, i == 0)
			l.dst = appendDigits(l.dst, uint64(size), lowDigits)
		}
	}
	group := GroupID(u.uvarint())
	l.dst = appendHex(l.dst, uint64(group))
	list := false
	for range in.Groups[group] {
		list = l.location(u, list)
	}
	for u.data[0] != 0 {
		l.wrap()
		l.scope(in, u)
	}
	u.byte()
	u.cursor = cursor
	if end != 0 {
		l.dst = append(l.dst, end)
	}
}

// span appends the number of boundaries between a range and the one before, and returns this number
// and the size of the range.
func (l *lineWriter) span(u *unpacker, first bool) (skip, size int64) {
	before := u.end
	if first {
		before = u.cursor
	}
	lo, hi := u.span(first)
	l.dst = appendSkip(l.dst, lo-before)
	return lo - before, hi - lo
}

// location appends "-" for none, "=" and an expression, or a list: for each entry, its range and the expression. The
// size of a range is left out if it is 1 and the number before it is written. "*" separates a list from the one before
// it, if list is true. It reports whether it appended a list.
func (l *lineWriter) location(u *unpacker, list bool) bool {
	n := u.uvarint()
	switch n {
	case 0:
		l.dst = append(l.dst, '-')
		return false
	case 1:
		l.dst = appendHex(append(l.dst, '='), u.uvarint())
		return false
	}
	if list {
		l.dst = append(l.dst, '*')
	}
	for i := uint64(1); i < n; i++ {
		l.wrap()
		if skip, size := l.span(u, i == 1); skip == 0 || size != 1 {
			l.dst = appendDigits(l.dst, uint64(size), lowDigits)
		}
		l.dst = appendHex(l.dst, u.uvarint())
	}
	return true
}

// site appends a call: the distance of the return address from the one before it (or the start of
// the function), "!" for a tail call, ">" and the address of the target, or "*" and the expression that
// computes it, and for each argument its location and its value.
func (l *lineWriter) site(s *CallSite, last RVA) {
	l.dst = appendDigits(l.dst, uint64(s.Return-last), highDigits)
	if s.Tail {
		l.dst = append(l.dst, '!')
	}
	if s.HasTarget {
		l.dst = appendHex(append(l.dst, '>'), uint64(s.Target))
	}
	if s.TargetAt != 0 {
		l.dst = appendHex(append(l.dst, '*'), uint64(s.TargetAt))
	}
	for _, p := range s.Params {
		l.dst = appendDigits(l.dst, uint64(p.Location), lowDigits)
		l.dst = appendHex(l.dst, uint64(p.Value))
	}
}
