package eval

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
)

// Types of the tests.
const (
	tInt vars.TypeID = iota + 1
	tUint
	tDouble
	tFloat
	tStruct
	tPtr
	tVLA
	tI128
	tU128
	tLongDouble
	tSelf
	tFortran
)

// testTypes returns these types. The length of the VLA is the value of the variable with label 7.
func testTypes() *vars.Info {
	return &vars.Info{
		Types: []vars.Type{{},
			tInt:        {Kind: vars.Base, Name: "int", Size: 4, HasSize: true, Encoding: vars.Signed},
			tUint:       {Kind: vars.Base, Name: "unsigned", Size: 4, HasSize: true, Encoding: vars.Unsigned},
			tDouble:     {Kind: vars.Base, Name: "double", Size: 8, HasSize: true, Encoding: vars.Float},
			tFloat:      {Kind: vars.Base, Name: "float", Size: 4, HasSize: true, Encoding: vars.Float},
			tStruct:     {Kind: vars.Struct, Name: "s", Size: 16, HasSize: true},
			tPtr:        {Kind: vars.Pointer, Elem: tInt},
			tVLA:        {Kind: vars.Array, Elem: tInt, Parts: &vars.Parts{Dims: []vars.Dim{{Upper: vars.Bound{Kind: vars.ExprBound, Expr: 1}}}}},
			tU128:       {Kind: vars.Base, Name: "__int128 unsigned", Size: 16, HasSize: true, Encoding: vars.Unsigned},
			tI128:       {Kind: vars.Base, Name: "__int128", Size: 16, HasSize: true, Encoding: vars.Signed},
			tLongDouble: {Kind: vars.Base, Name: "long double", Size: 16, HasSize: true, Encoding: vars.Float},
			tSelf:       {Kind: vars.Typedef, Elem: tSelf},
			tFortran: {Kind: vars.Array, Elem: tInt, Extra: &vars.Extra{Data: 2, Allocated: 2},
				Parts: &vars.Parts{Dims: []vars.Dim{{Count: vars.Bound{Kind: vars.ExprBound, Expr: 3}}}}},
		},
		Vars:   []vars.Variable{{}},
		Groups: [][]vars.VarID{nil},
		Exprs: []vars.Expr{{},
			vars.NewExpr([]vars.Op{{Code: vars.OpVariableValue, Label: 7}}),
			vars.NewExpr([]vars.Op{{Code: vars.OpObjectAt}, {Code: vars.OpDeref, U: 8}}),
			vars.NewExpr([]vars.Op{{Code: vars.OpObjectAt}, {Code: vars.OpPlusConst, U: 8}, {Code: vars.OpDeref, U: 8}}),
		},
	}
}

// testFrame returns a frame on x86-64: rbx, rcx and xmm1 are known, the CFA is 0x1040, and there is
// memory from 0x1000 to 0x1080. Its byte at n has the value n.
func testFrame(in *vars.Info) *Frame {
	data := make([]byte, 0x80)
	for i := range data {
		data[i] = byte(i)
	}
	binary.LittleEndian.PutUint64(data[0x60:], 0x1010)
	binary.LittleEndian.PutUint64(data[0x68:], 3)
	binary.LittleEndian.PutUint64(data[0x70:], 0x0defaced0defaced)
	m := dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x1000, Data: data}})
	return &Frame{
		Arch: arch.X86_64, Order: m.Order, Memory: &m, Info: in, Base: 0x400000,
		Register: func(i int) ([]byte, bool) {
			b := make([]byte, 8)
			switch arch.X86_64.Regs[i].Name {
			case "$rbx":
				binary.LittleEndian.PutUint64(b, 0x1020)
			case "$rcx":
				binary.LittleEndian.PutUint64(b, 0xfffffffffffffffd)
			case "$xmm1":
				b = make([]byte, 16)
				binary.LittleEndian.PutUint64(b, math.Float64bits(1.5))
			default:
				return nil, false
			}
			return b, true
		},
		CFA: func() (uint64, bool) { return 0x1040, true },
		TLS: func(off uint64) (uint64, string) {
			if off < 0x10 {
				return 0x1000 + off, ""
			}
			return 0, "the module's thread-local storage of the thread is not known"
		},
		Caller: func() (*Frame, vars.CallSite, error) { return nil, vars.CallSite{}, ErrNoCallSite },
	}
}

// variableOf evaluates a variable of a type.
func variableOf(f *Frame, t vars.TypeID, ops ...vars.Op) Variable {
	in := f.Info
	in.Vars = append(in.Vars, vars.Variable{Name: "v", Type: t})
	in.Exprs = append(in.Exprs, vars.NewExpr(ops))
	f.Scopes = append([]vars.Scope{{Vars: []vars.Instance{{Var: vars.VarID(len(in.Vars) - 1), Expr: vars.ExprID(len(in.Exprs) - 1)}}}}, f.Scopes...)
	return f.Depth(0)[0]
}

const (
	rax  = 0
	rcx  = 2
	rbx  = 3
	xmm1 = 18
)

// The numbers in the comments of the forms are sections of DWARF 5.
func TestLocations(t *testing.T) {
	f64 := func(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }
	for _, tt := range []struct {
		name string
		t    vars.TypeID
		ops  []vars.Op
		want string
		addr uint64
	}{
		{"register", tInt, []vars.Op{{Code: vars.OpReg, Reg: rcx}}, "fdffffff", 0},
		{"lost register", tInt, []vars.Op{{Code: vars.OpReg, Reg: rax}}, "unavailable: the value of rax in this frame is not known", 0},
		{"vector register", tDouble, []vars.Op{{Code: vars.OpReg, Reg: xmm1}}, "000000000000f83f", 0},
		{"memory at a register", tInt, []vars.Op{{Code: vars.OpBreg, Reg: rbx, S: -4}}, "1c1d1e1f", 0x101c},
		{"frame address", tInt, []vars.Op{{Code: vars.OpCFA}, {Code: vars.OpConst, U: 16}, {Code: vars.OpMinus}}, "30313233", 0x1030},
		{"memory that is missing in part", tStruct, []vars.Op{{Code: vars.OpConst, U: 0x1078}}, "78797a7b7c7d7e7f................", 0x1078},
		{"no memory", tInt, []vars.Op{{Code: vars.OpConst, U: 0x9000}}, "unavailable: the dump does not have the memory at 0x9000", 0},
		{"an erased word", tInt, []vars.Op{{Code: vars.OpConst, U: 0x1074}}, "unavailable: the writer of the dump erased the word at 0x1070", 0},
		{"address as a value", tPtr, []vars.Op{{Code: vars.OpAddr, U: 0x10}, {Code: vars.OpStackValue}}, "1000400000000000", 0},
		{"value cut", tInt, []vars.Op{{Code: vars.OpBreg, Reg: rcx, S: 1}, {Code: vars.OpStackValue}}, "feffffff", 0},
		{"value extended by its sign", tI128, []vars.Op{{Code: vars.OpBreg, Reg: rcx}, {Code: vars.OpStackValue}}, "fdffffffffffffffffffffffffffffff", 0},
		{"value of a part", tStruct, []vars.Op{{Code: vars.OpBreg, Reg: rcx}, {Code: vars.OpStackValue}}, "optimized_out: a value of 8 bytes for a variable of 16", 0},
		{"no operations", tInt, nil, "optimized_out: ", 0},
		{"implicit value", tInt, []vars.Op{{Code: vars.OpImplicitValue, Data: []byte{1, 2, 3, 4}}}, "01020304", 0},
		{"constant", tInt, []vars.Op{{Code: vars.OpConstNumber, U: math.MaxUint64}}, "ffffffff", 0},
		{"signed constant", tU128, []vars.Op{{Code: vars.OpConstSigned, S: -4}}, "fcffffffffffffffffffffffffffffff", 0},
		{"signed constant, cut", tUint, []vars.Op{{Code: vars.OpConstSigned, S: -4}}, "fcffffff", 0},
		{"signed constant for all of a struct", tStruct, []vars.Op{{Code: vars.OpConstSigned, S: -4}}, "optimized_out: a value of 8 bytes for a variable of 16", 0},
		{"constant for all of a struct", tStruct, []vars.Op{{Code: vars.OpConstNumber, U: 5}}, "optimized_out: a value of 8 bytes for a variable of 16", 0},
		{"short constant", tInt, []vars.Op{{Code: vars.OpConstValue, Data: []byte{0xfe}}}, "feffffff", 0},
		{"short constant of a struct", tStruct, []vars.Op{{Code: vars.OpConstValue, Data: []byte{0xfe}}}, "optimized_out: a constant of 1 bytes for a value of 16", 0},
		{"constant without the padding of its type", tLongDouble, []vars.Op{{Code: vars.OpConstValue, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}}, "0102030405060708090a............", 0},
		{"unknown operation", tInt, []vars.Op{{Code: vars.OpUnsupported}}, "optimized_out: the location has an operation that the symbols have no form for", 0},
		{"parameter outside an entry value", tInt, []vars.Op{{Code: vars.OpParam, Data: []byte("a")}}, "optimized_out: invalid expression: a parameter without a place, outside an entry value", 0},
		{"pieces", tStruct, []vars.Op{{Code: vars.OpReg, Reg: rbx}, {Code: vars.OpPiece, U: 4}, {Code: vars.OpPiece, U: 4}, {Code: vars.OpConst, U: 0x1001}, {Code: vars.OpPiece, U: 8}},
			"20100000........0102030405060708", 0},
		{"a piece that is lost", tStruct, []vars.Op{{Code: vars.OpBreg, Reg: rax}, {Code: vars.OpStackValue}, {Code: vars.OpPiece, U: 8}, {Code: vars.OpReg, Reg: rbx}, {Code: vars.OpPiece, U: 8}},
			"................2010000000000000", 0},
		{"bit pieces", tInt, []vars.Op{{Code: vars.OpReg, Reg: rbx}, {Code: vars.OpBitPiece, U: 4, S: 4}, {Code: vars.OpConst, U: 0x1012}, {Code: vars.OpBitPiece, U: 28}},
			"22314151", 0},
		{"dereference", tInt, []vars.Op{{Code: vars.OpConst, U: 0x1060}, {Code: vars.OpDeref, U: 8}}, "10111213", 0x1010},
		{"thread-local", tInt, []vars.Op{{Code: vars.OpConst, U: 4}, {Code: vars.OpTLS}}, "04050607", 0x1004},
		{"other module's thread-local", tInt, []vars.Op{{Code: vars.OpConst, U: 40}, {Code: vars.OpTLS}}, "unavailable: the module's thread-local storage of the thread is not known", 0},
		{"typed: register, multiplied", tDouble, []vars.Op{{Code: vars.OpRegType, Reg: xmm1, Type: tDouble}, {Code: vars.OpConstType, Type: tDouble, Data: f64(-3)}, {Code: vars.OpMul}, {Code: vars.OpStackValue}},
			hex.EncodeToString(f64(-4.5)), 0},
		{"typed: to an integer", tInt, []vars.Op{{Code: vars.OpConstType, Type: tDouble, Data: f64(-3.75)}, {Code: vars.OpConvert, Type: tInt}, {Code: vars.OpStackValue}}, "fdffffff", 0},
		{"typed: to a double", tDouble, []vars.Op{{Code: vars.OpBreg, Reg: rcx}, {Code: vars.OpConvert, Type: tInt}, {Code: vars.OpConvert, Type: tDouble}, {Code: vars.OpStackValue}},
			hex.EncodeToString(f64(-3)), 0},
		{"typed: to x87", tLongDouble, []vars.Op{{Code: vars.OpConstType, Type: tDouble, Data: f64(-3)}, {Code: vars.OpConvert, Type: tLongDouble}, {Code: vars.OpStackValue}},
			"00000000000000c000c0000000000000", 0},
		{"typed: unsigned division", tUint, []vars.Op{{Code: vars.OpBreg, Reg: rcx}, {Code: vars.OpConvert, Type: tUint}, {Code: vars.OpConstType, Type: tUint, Data: []byte{2, 0, 0, 0}}, {Code: vars.OpDiv}, {Code: vars.OpStackValue}},
			"feffff7f", 0},
		{"different types", tInt, []vars.Op{{Code: vars.OpConstType, Type: tDouble, Data: f64(1)}, {Code: vars.OpConst, U: 1}, {Code: vars.OpPlus}, {Code: vars.OpStackValue}},
			"optimized_out: invalid expression: operands of different types", 0},
		{"signed division", tInt, []vars.Op{{Code: vars.OpBreg, Reg: rcx, S: -4}, {Code: vars.OpConst, U: 2}, {Code: vars.OpDiv}, {Code: vars.OpStackValue}}, "fdffffff", 0},
		{"branch", tInt, []vars.Op{{Code: vars.OpConst, U: 1}, {Code: vars.OpBranch, To: 4}, {Code: vars.OpConst, U: 5}, {Code: vars.OpSkip, To: 5}, {Code: vars.OpConst, U: 6}, {Code: vars.OpStackValue}}, "06000000", 0},
		{"endless", tInt, []vars.Op{{Code: vars.OpSkip, To: 0}}, "optimized_out: invalid expression: more than 10000 operations", 0},
		{"division by zero", tInt, []vars.Op{{Code: vars.OpConst}, {Code: vars.OpConst}, {Code: vars.OpMod}, {Code: vars.OpStackValue}}, "optimized_out: invalid expression: division by zero", 0},
		{"no caller", tInt, []vars.Op{{Code: vars.OpEntryValue, Sub: []vars.Op{{Code: vars.OpReg, Reg: 5}}}, {Code: vars.OpStackValue}},
			"optimized_out: no call site says what the value was when the function was called", 0},
		{"a type made of itself", tSelf, []vars.Op{{Code: vars.OpReg, Reg: rbx}}, "optimized_out: the size of the type is not known", 0},
		{"descriptor", tFortran, []vars.Op{{Code: vars.OpConst, U: 0x1060}}, "101112131415161718191a1b", 0x1010},
	} {
		v := variableOf(testFrame(testTypes()), tt.t, tt.ops...)
		got := v.Hex()
		if v.Status() != HasValue || len(v.Bytes) == 0 {
			got = v.Status().String() + ": " + v.Why
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if tt.addr != 0 && (!v.InMemory || v.Address != tt.addr) {
			t.Errorf("%s: at %#x, %v, want %#x", tt.name, v.Address, v.InMemory, tt.addr)
		}
	}
}

// The bound of an array can be the value of a variable in an outer scope.
func TestLengthInVariable(t *testing.T) {
	in := testTypes()
	f := testFrame(in)
	in.Vars = append(in.Vars, vars.Variable{Name: "n", Type: tInt, Label: 7})
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpConstNumber, U: 2}}))
	f.Scopes = []vars.Scope{{Vars: []vars.Instance{{Var: 1, Expr: vars.ExprID(len(in.Exprs) - 1)}}}}
	if v := variableOf(f, tVLA, vars.Op{Code: vars.OpBreg, Reg: rbx}); v.Hex() != "202122232425262728292a2b" {
		t.Errorf("got %s, %s", v.Hex(), v.Why)
	}
	v := variableOf(testFrame(testTypes()), tVLA, vars.Op{Code: vars.OpBreg, Reg: rbx})
	if v.Status() != OptimizedOut || v.Why != "a variable that the expression needs is not in scope" {
		t.Errorf("without the variable: got %v, %q", v.Status(), v.Why)
	}
}

// A pointer that was optimized out leads to the value of a variable.
func TestImplicitPointer(t *testing.T) {
	in := testTypes()
	f := testFrame(in)
	in.Vars = append(in.Vars, vars.Variable{Name: "to", Type: tInt, Label: 3})
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpReg, Reg: rcx}}))
	f.Scopes = []vars.Scope{{Vars: []vars.Instance{{Var: 1, Expr: vars.ExprID(len(in.Exprs) - 1)}}}}
	v := variableOf(f, tPtr, vars.Op{Code: vars.OpImplicitPointer, Label: 3, S: 1})
	if v.Status() != HasValue || v.Pointee == nil || v.Pointee.Var != 1 || v.Pointee.Offset != 1 || v.Pointee.Value.Hex() != "fdffffff" {
		t.Errorf("got %v, %+v", v.Status(), v.Pointee)
	}
	loop := variableOf(testFrame(testTypes()), tPtr)
	in.Vars[1] = vars.Variable{Name: "to", Type: tPtr, Label: 3}
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpImplicitPointer, Label: 3}}))
	f.Scopes = []vars.Scope{{Vars: []vars.Instance{{Var: 1, Expr: vars.ExprID(len(in.Exprs) - 1)}}}}
	if loop = f.Depth(0)[0]; loop.Pointee == nil {
		t.Errorf("a pointer to itself: %+v", loop)
	}
}

// A frame base may be the location of a variable of the function, but not one that needs the frame base.
func TestFrameBaseOfVariable(t *testing.T) {
	in := testTypes()
	in.Vars = append(in.Vars, vars.Variable{Artificial: true, Label: 9})
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpCall, Label: 9}}), vars.NewExpr([]vars.Op{{Code: vars.OpBreg, Reg: rbx, S: 8}}),
		vars.NewExpr([]vars.Op{{Code: vars.OpFbreg}}))
	n := vars.ExprID(len(in.Exprs))
	for _, tt := range []struct {
		at   vars.ExprID
		want string
		why  string
	}{{n - 2, "24252627", ""}, {n - 1, "........", "invalid expression: a frame base that needs itself"}, {0, "........", "a variable that the expression needs has no location"}} {
		f := testFrame(in)
		f.Func = &vars.Func{FrameBase: n - 3}
		f.Scopes = []vars.Scope{{Kind: vars.BlockScope}, {Vars: []vars.Instance{{Var: 1, Expr: tt.at}}}}
		if v := variableOf(f, tInt, vars.Op{Code: vars.OpFbreg, S: -4}); v.Hex() != tt.want || v.Why != tt.why {
			t.Errorf("got %s, %q", v.Hex(), v.Why)
		}
	}
}

// The value of a register at entry, or of a parameter that the function does not have, is given by the caller's call
// site, in the caller's frame.
func TestEntryValue(t *testing.T) {
	in := testTypes()
	callee, caller := testFrame(in), testFrame(in)
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpReg, Reg: 5}}), vars.NewExpr([]vars.Op{{Code: vars.OpBreg, Reg: rcx, S: 10}}),
		vars.NewExpr([]vars.Op{{Code: vars.OpParam, Data: []byte("size")}}), vars.NewExpr([]vars.Op{{Code: vars.OpConst, U: 9}}))
	n := vars.ExprID(len(in.Exprs))
	callee.Caller = func() (*Frame, vars.CallSite, error) {
		return caller, vars.CallSite{Params: []vars.SiteParam{{Location: n - 4, Value: n - 3}, {Location: n - 2, Value: n - 1}}}, nil
	}
	for _, tt := range []struct {
		of        vars.Op
		want, why string
	}{
		{vars.Op{Code: vars.OpReg, Reg: 5}, "07000000", ""},
		{vars.Op{Code: vars.OpReg, Reg: 4}, "........", "the caller does not say what rsi was when the function was called"},
		{vars.Op{Code: vars.OpParam, Data: []byte("size")}, "09000000", ""},
		{vars.Op{Code: vars.OpParam, Data: []byte("siz")}, "........", "the caller does not say what the argument was"},
	} {
		v := variableOf(callee, tInt, vars.Op{Code: vars.OpEntryValue, Sub: []vars.Op{tt.of}}, vars.Op{Code: vars.OpStackValue})
		if v.Hex() != tt.want || v.Why != tt.why {
			t.Errorf("%+v: got %s, %s", tt.of, v.Hex(), v.Why)
		}
	}
}

// A variable hides those of the same name in outer scopes of the same call only.
func TestHidden(t *testing.T) {
	in := testTypes()
	f := testFrame(in)
	in.Vars = append(in.Vars, vars.Variable{Name: "a", Type: tInt}, vars.Variable{Name: "b", Type: tInt})
	a, b := vars.Instance{Var: 1}, vars.Instance{Var: 2}
	f.Scopes = []vars.Scope{{Depth: 1, Vars: []vars.Instance{a}}, {Depth: 1, Vars: []vars.Instance{a, b}}, {Vars: []vars.Instance{a}}}
	inner, outer := f.Depth(1), f.Depth(0)
	if len(inner) != 3 || inner[0].Hidden != 0 || inner[1].Hidden != 1 || inner[1].Block != 1 || inner[2].Hidden != 0 || len(outer) != 1 || outer[0].Hidden != 0 || outer[0].Block != 0 {
		t.Errorf("got %+v and %+v", inner, outer)
	}
}

// The work for all variables of a frame is limited, and so is their number.
func TestFrameLimits(t *testing.T) {
	in := testTypes()
	f := testFrame(in)
	in.Exprs = append(in.Exprs, vars.NewExpr([]vars.Op{{Code: vars.OpSkip}}), vars.NewExpr([]vars.Op{{Code: vars.OpConst, U: 5}, {Code: vars.OpStackValue}}))
	in.Vars = append(in.Vars, vars.Variable{Name: "a", Type: tInt})
	loop, five := vars.Instance{Var: 1, Expr: vars.ExprID(len(in.Exprs) - 2)}, vars.Instance{Var: 1, Expr: vars.ExprID(len(in.Exprs) - 1)}
	f.Scopes = []vars.Scope{{Vars: []vars.Instance{loop, five}}}
	if all := f.Depth(0); all[0].Whole() || !all[1].Whole() {
		t.Errorf("after one loop: %+v", all)
	}
	for range 2 * MaxVariables {
		f.Scopes[0].Vars = append(f.Scopes[0].Vars, loop)
	}
	if n := len(f.Depth(0)); n != MaxVariables || f.spent > maxFrameOps {
		t.Errorf("%d variables, %d operations", n, f.spent)
	}
}

// A piece begins at a bit of memory, however far away, or of a register.
func TestPieceOffsets(t *testing.T) {
	for _, tt := range []struct {
		ops  []vars.Op
		want string
	}{
		{[]vars.Op{{Code: vars.OpConst, U: 0x1001}, {Code: vars.OpBitPiece, U: 32, S: 8 * 8}}, "090a0b0c"},
		{[]vars.Op{{Code: vars.OpConst, U: 0x1001}, {Code: vars.OpBitPiece, U: 32, S: math.MaxInt64}}, "........"},
		{[]vars.Op{{Code: vars.OpReg, Reg: rbx}, {Code: vars.OpBitPiece, U: 8, S: 8}, {Code: vars.OpPiece, U: 3}}, "10......"},
		{[]vars.Op{{Code: vars.OpReg, Reg: rbx}, {Code: vars.OpBitPiece, U: 32, S: math.MaxInt64}}, "........"},
		{[]vars.Op{{Code: vars.OpReg, Reg: rbx}, {Code: vars.OpBitPiece, U: 32, S: -1}}, "........"},
	} {
		v := variableOf(testFrame(testTypes()), tInt, tt.ops...)
		if got := v.Hex(); got != tt.want {
			t.Errorf("%v: got %s, want %s (%s)", tt.ops, got, tt.want, v.Why)
		}
	}
}

// Missing memory takes no more space than existing memory.
func TestPartBeyond(t *testing.T) {
	v := Value{Bytes: []byte{1, 2, 3, 4}}
	for _, tt := range []struct{ offset, size, want int }{{1, 2, 2}, {4, 0, 0}, {3, 2, 2}, {-1, 3, 3}, {8, 1 << 40, MaxValue}, {1, -1, 0}} {
		part := v.Part(tt.offset, tt.size)
		if len(part.Bytes) != tt.want || part.Whole() != (tt.offset == 1 && tt.size == 2 || tt.want == 0) {
			t.Errorf("%d bytes at %d: %d bytes, whole: %v", tt.size, tt.offset, len(part.Bytes), part.Whole())
		}
	}
}

// A descriptor, including a member's, says where elements are; they need not be adjacent.
func TestDescriptorAxes(t *testing.T) {
	in := testTypes()
	at := func(n int64) vars.Bound { return vars.Bound{Kind: vars.ConstBound, Value: n} }
	array := vars.TypeID(len(in.Types))
	in.Types = append(in.Types,
		vars.Type{Kind: vars.Array, Elem: tInt, Extra: &vars.Extra{Data: 2}, Parts: &vars.Parts{Dims: []vars.Dim{
			{Lower: at(1), Upper: at(2), Step: at(8)}, {Lower: at(-1), Upper: at(1), Step: at(16)}}}},
		vars.Type{Kind: vars.Array, Elem: tInt, Extra: &vars.Extra{Data: 2}, Parts: &vars.Parts{Dims: []vars.Dim{{Upper: at(1)}}}})
	f := testFrame(in)
	want := []Axis{{-1, 3, 16}, {1, 2, 8}}
	if v := variableOf(f, array, vars.Op{Code: vars.OpConst, U: 0x1060}); !slices.Equal(v.Axes, want) || v.Address != 0x1010 || len(v.Bytes) != 48 {
		t.Errorf("got %+v, %d bytes at %#x", v.Axes, len(v.Bytes), v.Address)
	}
	if v := variableOf(f, array+1, vars.Op{Code: vars.OpConst, U: 0x1060}); v.Axes != nil || v.Hex() != "1011121314151617" {
		t.Errorf("without strides: got %+v, %s", v.Axes, v.Hex())
	}
	object := f.Read(0x1058, 16)
	if v, ok := f.Member(&object, &vars.Member{Type: array, Offset: 8}); !ok || !slices.Equal(v.Axes, want) || v.Address != 0x1010 {
		t.Errorf("member: got %+v at %#x, %s", v.Axes, v.Address, v.Why)
	}
}

// A bit field is known if its bits are, whatever else is in their bytes.
func TestBitsOfPieces(t *testing.T) {
	f := testFrame(testTypes())
	number := func(n uint64) vars.Op { return vars.Op{Code: vars.OpConst, U: n} }
	end, bits := vars.Op{Code: vars.OpStackValue}, func(n uint64) vars.Op { return vars.Op{Code: vars.OpBitPiece, U: n} }
	v := variableOf(f, tInt, number(5), end, bits(3), bits(2), number(0x1ff), end, bits(9), bits(18))
	if v.Hex() != "........" && v.Hex() != "..3f...." {
		t.Errorf("got %s", v.Hex())
	}
	for _, tt := range []struct {
		at   uint8
		size uint32
		want string
	}{{0, 3, "05000000"}, {5, 9, "ff010000"}, {0, 5, "........"}, {3, 2, "........"}, {13, 2, "........"}} {
		got, _ := f.Member(&v.Value, &vars.Member{Type: tUint, BitSize: tt.size, BitOffset: tt.at})
		if got.Hex() != tt.want {
			t.Errorf("%d bits at %d: got %s, want %s", tt.size, tt.at, got.Hex(), tt.want)
		}
	}
	if part := v.Part(0, 4); !slices.Equal(part.Bits, v.Bits) || v.Bits[0] != 0xe7 || v.Bits[1] != 0x3f {
		t.Errorf("got bits %x", v.Bits)
	}
}
