package vars

import (
	"bytes"
	"strings"
	"testing"
)

// text returns the records of in.
func text(in *Info) []byte {
	var b []byte
	for i := range in.Pieces() {
		b = in.Append(b, i)
	}
	return b
}

// parse reads records; problems are returned as text.
func parse(b []byte) (*Info, []string) {
	var p Parser
	var problems []string
	note := func(e *BadRecord) error {
		problems = append(problems, e.Msg)
		return nil
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) {
		line, ok := bytes.CutPrefix(line, []byte(Prefix))
		if !ok {
			continue
		}
		if err := p.Add(line, i+1); err != nil {
			note(err)
		}
	}
	in, _ := p.Finish(note)
	return in, problems
}

// everything has each form of each record.
func everything() *Info {
	in := sample()
	in.Locals, in.FullTypes = true, true
	for code := range opNames {
		op := Op{Code: OpCode(code)}
		has := parts[min(code, len(parts)-1)]
		switch {
		case op.Code == OpEntryValue:
			op.Sub = []Op{{Code: OpReg, Reg: 17}, {Code: OpStackValue}}
		case has&hasData != 0:
			op.Data = []byte{0, 0xff, 0x1a}
		}
		if has&hasReg != 0 {
			op.Reg = 31
		}
		if has&hasU != 0 {
			op.U = 1<<64 - 1
		}
		if has&hasS != 0 {
			op.S = -1 << 63
		}
		if has&hasTo != 0 {
			op.To = 2
		}
		if has&hasType != 0 {
			op.Type = 1
		}
		if has&hasLabel != 0 {
			op.Label = 9
		}
		if has&hasExpr != 0 {
			op.Expr = 2
		}
		in.Exprs = append(in.Exprs, NewExpr([]Op{op, {Code: OpDup}}))
	}
	bound := Bound{Kind: ExprBound, Expr: 3}
	in.Types = append(in.Types,
		Type{Kind: Pointer, Elem: 3, Size: 8, HasSize: true},
		Type{Kind: Struct, Name: "a ~%\n\"b<c, d>", Size: 24, HasSize: true, Members: []Member{
			{Name: "", Type: 2, Base: true}, {Name: "x y", Type: 1, Offset: 8, BitSize: 3, BitOffset: 7, Artificial: true}, {Name: "v", Type: 1, At: 3}},
			Parts: &Parts{Variants: []VariantPart{{Discr: Member{Name: "tag", Type: 1, Offset: 4}, Variants: []Variant{
				{Members: []Member{{Name: "rest", Type: 1}}}, {Ranges: []DiscrRange{{1, 1}, {4, 1<<64 - 1}}, Members: []Member{{Name: "one", Type: 1}, {Name: "two", Type: 1}}}}},
				{Discr: Member{}}}}},
		Type{Kind: Enum, Elem: 1, Name: "e", Parts: &Parts{Enumerators: []Enumerator{{"A", -1}, {"B:C", 1 << 62}}}},
		Type{Kind: Function, Elem: 1, Parts: &Parts{Params: []TypeID{1, 0, 2}}},
		Type{Kind: MemberPtr, Elem: 5, Class: 3, Incomplete: true},
		Type{Kind: Array, Elem: 1, Parts: &Parts{Dims: []Dim{{Lower: Bound{Kind: ConstBound, Value: -1}, Upper: bound}, {Count: Bound{Kind: ConstBound, Value: 7}, Step: bound}}},
			Extra: &Extra{Data: 1, Allocated: 2, Associated: 3, Stride: bound}},
		Type{Kind: String, Extra: &Extra{Length: bound}},
		Type{Kind: Base, Name: "x", Encoding: UTF, Order: BigEndian, Extra: &Extra{BitSize: 7, BitOffset: 1}},
		Type{Kind: Base, Order: LittleEndian},
	)
	in.Vars = append(in.Vars, Variable{Name: "this", Type: 2, Param: true, Artificial: true, Label: 77}, Variable{Type: 4, Artificial: true})
	in.Groups = append(in.Groups, []VarID{4, 5, 1})
	cold := in.Funcs[0]
	cold.RVA, cold.EntryAt = 0x2000, -0x1000
	in.Funcs = append(in.Funcs, cold)
	return in
}

func TestTextIsReadBack(t *testing.T) {
	want := everything()
	b := text(want)
	got, problems := parse(b)
	if len(problems) > 0 || !got.Equal(want) {
		t.Errorf("%q\n%s\n%s", problems, b, text(got))
	}
}

// visit goes through all contents of functions.
func visit(in *Info) {
	for i := range in.Funcs {
		in.Funcs[i].Tree(in)
		for range in.Funcs[i].CallSites() {
		}
	}
}

// A long record continues on the next line, wherever that begins.
func TestLongFunction(t *testing.T) {
	for n := range 400 { // a line of 4 KB has fewer
		testLongFunction(t, 400+n)
	}
}

func testLongFunction(t *testing.T, inlines int) {
	in := sample()
	var b Builder
	b.Reset(0x1000)
	b.Func(1)
	b.Location(&Location{Whole: 1})
	for i := range inlines {
		b.Inline(i, 1)
		b.Location(&Location{List: []Entry{{Range{0, 4}, 1}, {Range{8, int64(12 + i)}, 2}}})
		b.End()
	}
	b.End()
	b.Site(&CallSite{Return: 0x1008, Tail: true})
	in.Funcs[0].Body = b.Finish()
	lines := bytes.Split(text(in), []byte("\n"))
	for _, l := range lines {
		if len(l) > lineSize+200 {
			t.Fatalf("a line of %d bytes", len(l))
		}
		if bytes.HasSuffix(l, []byte(" ")) {
			t.Fatalf("a line ends with a space: %.40q...", l)
		}
	}
	if got, problems := parse(text(in)); len(problems) > 0 || !got.Equal(in) || len(lines) < 3 {
		t.Errorf("%q, %d lines", problems, len(lines))
	}
}

func TestParseFaults(t *testing.T) {
	const head = "INFO VAR 1 all full\nINFO VAR T b#4 \"int\nINFO VAR E r:5 f:-14\nINFO VAR V l1:a\nINFO VAR G 1\n"
	for _, tt := range []struct{ text, want string }{
		{"INFO VAR T p9#8", "type 9 is not declared"},
		{"INFO VAR T p1#", "want a size"},
		{"INFO VAR E x", "want an operation"},
		{"INFO VAR E r", "invalid operand of r"},
		{"INFO VAR E skip:4", "operation 0 jumps to operation 4 of 1"},
		{"INFO VAR E " + strings.Repeat("entry(", 20) + "r:1", "operations are nested more than 8 deep"},
		{"INFO VAR E c:0" + strings.Repeat(",dup", MaxOps), "more than 10000 operations"},
		{"INFO VAR E convert:9", "type 9 is not declared"},
		{"INFO VAR V x", "want p or l and the type of a variable"},
		{"INFO VAR V l7:b", "type 7 is not declared"},
		{"INFO VAR R 10:7", "type 7 is not declared"},
		{"INFO VAR R 10:1 1", "want the distance of an address, ':' and a type"},
		{"INFO VAR R 10:1 ffffffffffffffff:1", "want the distance of an address"},
		{"INFO VAR G 9", "variable 9 is not declared"},
		{"INFO VAR F 1000 10 1", "want an address, a size, a frame base and scopes"},
		{"INFO VAR F 1000 0 1 1=1", "0 bytes from 1000 do not fit into the address space"},
		{"INFO VAR F 1000 10 9 1=1", "expression 9 is not declared"},
		{"INFO VAR F 1000 10 1 2=1", "group 2 is not declared"},
		{"INFO VAR F 1000 10 1 1=9", "expression 9 is not declared"},
		{"INFO VAR F 1000 10 1 1=0", "want the number of an expression"},
		{"INFO VAR F 1000 10 1 1", "want the location of a variable"},
		{"INFO VAR F 1000 10 1 1*", "want the location of a variable"},
		{"INFO VAR F 1000 10 1x 1=1", "want a space and scopes"},
		{"INFO VAR F 1000 10 1/80 1=1", "want the distance of a boundary"},
		{"INFO VAR F 1000 10 1/8g 1=1", "want the distance of a boundary"},
		{"INFO VAR F 1000 10 1/8" + strings.Repeat("v", 14) + "0 1=1", "want the distance of a boundary"},
		{"INFO VAR F 1000 10 1/88 1h1g1", "want a range between two of 3 boundaries"},
		{"INFO VAR F 1000 10 1/88 1h1i1", "want a range between two of 3 boundaries"},
		{"INFO VAR F 1000 10 1/88 1h1I1", "want a range between two of 3 boundaries"},
		{"INFO VAR F 1000 10 1/88 1~Hi1", "want a range between two of 3 boundaries"},
		{"INFO VAR F 1000 10 1/88 1~h1", "want a range"},
		{"INFO VAR F 1000 10 1/88 1HHHHHHHHHHHHHHHHH1", "want a range"},
		{"INFO VAR F 1000 10 1/88 1h", "want the number of an expression"},
		{"INFO VAR F 1000 10 1/88 1=1{H1=1}", "want a range between two of 3 boundaries"},
		{"INFO VAR F 1000 10 1 1=1(1=1", "want ')'"},
		{"INFO VAR F 1000 10 1 1=1 zz", "want the distance of a return address"},
		{"INFO VAR F 1000 10 1 1=1x", "want a space and call sites"},
		{"INFO VAR F 1000 10 1 1=1 G>x", "want the address of a function"},
		{"INFO VAR F 1000 10 1 1=1 Gp1", "expression 9 is not declared"},
		{"INFO VAR F 1000 10 1 1=1 Gh", "want the number of an expression"},
		{"INFO VAR F 1000 10 1 1=1\nINFO VAR F 1008 10 1 1=1", "variables of the function at 1008, which overlaps the one at 1000"},
		{"INFO VAR F 1000 10 1 1=1" + strings.Repeat("(1=1", 5000), "scopes are nested more than 4096 deep"},
		{"INFO VAR + (1=1)", "no F record to continue"},
		{"INFO VAR L G", "want a small letter for the language, or -"},
		{"INFO VAR L go", "want a small letter for the language, or -"},
		{"INFO VAR L ", "want a small letter for the language, or -"},
		{"INFO VAR 1", "a second record with a version"},
	} {
		in, problems := parse([]byte(head + tt.text + "\n"))
		if len(problems) != 1 || !strings.Contains(problems[0], tt.want) {
			t.Errorf("%.60s: got %q, want %q", tt.text, problems, tt.want)
		}
		visit(in) // what is left can be used
	}
	if _, problems := parse([]byte(head + "INFO VAR Q what a later version says\nINFO VAR 12\nINFO VAR T p1#8 later=1\n")); len(problems) > 0 {
		t.Errorf("got %q", problems)
	}
}

// Functions have the language that was named last.
func TestLanguages(t *testing.T) {
	in := sample()
	for i, l := range []Language{Rust, Rust, 0, CPlusPlus, 'q'} {
		f := in.Funcs[0]
		f.RVA, f.Language = RVA(0x2000+0x100*i), l
		in.Funcs = append(in.Funcs, f)
	}
	got, problems := parse(text(in))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if n := bytes.Count(text(in), []byte("INFO VAR L ")); n != 4 {
		t.Errorf("%d records of languages", n)
	}
	for i := range in.Funcs {
		if got.Funcs[i].Language != in.Funcs[i].Language {
			t.Errorf("function %d: %q, want %q", i, got.Funcs[i].Language, in.Funcs[i].Language)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(text(everything()))
	f.Add(text(sample()))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, problems := parse(b)
		if in == nil {
			return
		}
		again, more := parse(text(in))
		if len(problems) == 0 && len(more) > 0 {
			t.Fatalf("what was written is not read: %q\n%s", more, text(in))
		}
		if len(problems) == 0 && !again.Equal(in) {
			t.Fatalf("it is not the same\n%s\n%s", text(in), text(again))
		}
		for i := range in.Funcs {
			in.Funcs[i].Tree(in)
			in.At(in.Funcs[i].RVA, []int{0})
			in.CallSite(in.Funcs[i].RVA + 1)
		}
		for i := range in.Exprs {
			for use := UsePlace; use <= UseObject; use++ {
				in.Verify(ExprID(i), use, 8)
			}
		}
		for i := range in.Types {
			if name := in.TypeName(TypeID(i)); len(name) > maxTypeName+3 {
				t.Fatalf("a name of %d bytes", len(name))
			}
			in.SizeOf(TypeID(i), 8)
		}
		visit(in)
	})
}
