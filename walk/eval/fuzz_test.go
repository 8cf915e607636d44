package eval

import (
	"testing"

	"github.com/symtool/symtool/symfmt/vars"
)

// fuzzOps makes an operation from every five bytes, the last of which is the operand.
func fuzzOps(data []byte) (ops []vars.Op) {
	for len(data) >= 5 && len(ops) < 64 {
		op := vars.Op{
			Code: vars.OpCode(data[0]) % (vars.OpReinterpret + 1), Reg: uint32(data[1]), U: uint64(data[2]) << (data[3] & 63), S: int64(int8(data[2])) << (data[3] & 31),
			To: int(data[4]) % 65, Type: vars.TypeID(data[1]) % (tFortran + 1), Label: uint32(data[1]) % 9, Data: data[:data[4]%5],
		}
		if op.Code == vars.OpEntryValue {
			op.Sub = []vars.Op{{Code: vars.OpReg, Reg: uint32(data[1])}}
		}
		ops = append(ops, op)
		data = data[5:]
	}
	return ops
}

// No expression panics, and a value has the size of its type.
func FuzzExpression(f *testing.F) {
	f.Add([]byte{2, 3, 4, 0, 0, 37, 0, 0, 0, 0}, uint8(tInt))
	f.Add([]byte{1, 0, 16, 8, 0, 8, 0, 8, 0, 0, 41, 0, 4, 0, 0, 41, 0, 4, 0, 0}, uint8(tStruct))
	f.Add([]byte{43, 1, 0, 0, 0, 46, 3, 8, 0, 0, 49, 3, 0, 0, 0}, uint8(tPtr))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		in := testTypes()
		frame := testFrame(in)
		in.Vars = append(in.Vars, vars.Variable{Name: "n", Type: tVLA, Label: 7}, vars.Variable{Name: "p", Type: tPtr, Label: 3})
		in.Exprs = append(in.Exprs, vars.NewExpr(fuzzOps(data)))
		own := vars.ExprID(len(in.Exprs) - 1)
		frame.Func = &vars.Func{FrameBase: own}
		frame.Scopes = []vars.Scope{{Vars: []vars.Instance{{Var: 1, Expr: own}, {Var: 2, Expr: own}}}}
		frame.Caller = func() (*Frame, vars.CallSite, error) {
			return frame, vars.CallSite{Params: []vars.SiteParam{{Location: own, Value: own}}}, nil
		}
		id := vars.TypeID(kind) % (tFortran + 1)
		for _, v := range append(frame.Depth(0), variableOf(frame, id, fuzzOps(data)...)) {
			if v.States != nil && len(v.States) != len(v.Bytes) {
				t.Fatalf("%d states of %d bytes", len(v.States), len(v.Bytes))
			}
			if size, ok := in.SizeOf(v.Type, 8); ok && v.Status() == HasValue && v.Pointee == nil && uint64(len(v.Bytes)) != size {
				t.Fatalf("%d bytes of a type of %d", len(v.Bytes), size)
			}
			_ = v.Hex()
		}
	})
}
