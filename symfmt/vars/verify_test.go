package vars

import (
	"strings"
	"testing"
)

// Expressions with their use and the fault that is found.
func TestVerify(t *testing.T) {
	const types = "INFO VAR 1 all full\nINFO VAR T b#4 \"int %5\nINFO VAR T b#8 \"double %4\nINFO VAR T b#8 \"long %5\nINFO VAR T s#4 \"S\nINFO VAR T k1\n"
	for _, tt := range []struct {
		expr string
		use  Use
		want string
	}{
		{"r:5", UsePlace, ""},
		{"r:5", UseNumber, ""},
		{"f:-14", UsePlace, ""},
		{"r:5,piece:4,piece:4", UsePlace, ""},
		{"b:6:8,piece:4,c:1,v,piece:4", UsePlace, ""},
		{"entry(r:5),v", UsePlace, ""},
		{"entry(param:73697a65),v", UsePlace, ""},
		{"entry(tr:40:2),tr:41:2,plus,v", UsePlace, ""},
		{"c:1,branch:4,c:2,skip:5,c:3,v", UsePlace, ""},
		{"c:1,branch:4,c:2,skip:5,c:3", UseNumber, ""},
		{"b:5:0,dup,branch:1", UsePlace, ""},
		{"b:5:0,dup,dup,branch:1", UsePlace, "operation 3: stacks of 1 and of 2 entries lead to operation 2"},
		{"c:1,branch:3,c:2,c:3", UseNumber, "operation 3: stacks of 0 and of 1 entries lead to operation 4"},
		{"c:1,dup,branch:6,drop,c:7,c:8,c:9", UseNumber, "stacks of"},
		{"object,d:8", UseObject, ""},
		{"p:8,d:8", UseObject, ""},
		{"tc:1:01000000,tr:5:5,plus,v", UsePlace, ""}, // const int is another type with the same numbers
		{"c:5,pick:0,plus", UseNumber, ""},
		{"c:1,c:2,c:3,rot,minus,plus", UseNumber, ""},
		{"tr:11:2,tr:12:2,mul,convert:0,v", UsePlace, ""},
		{"value:0102", UsePlace, ""},
		{"call:1,nonsense", UsePlace, ""},
		{"unsupported,plus", UsePlace, ""},

		{"plus", UsePlace, "operation 0: plus needs 2 entries of a stack of 0"},
		{"c:1,pick:1", UseNumber, "operation 1: pick needs 2 entries of a stack of 1"},
		{"c:1,rot", UseNumber, "rot needs 3 entries"},
		{"tls", UsePlace, "tls needs 1 entries of a stack of 0"},
		{"r:5,p:8", UsePlace, "operation 1: p after the end of a location"},
		{"c:1,v,d:8", UsePlace, "operation 2: d after the end of a location"},
		{"r:5,piece:4,r:6", UsePlace, "a location without a size after pieces"},
		{"r:5,piece:4", UseNumber, "pieces, want a number"},
		{"c:1,drop", UseNumber, "nothing is left"},
		{"object", UsePlace, "the address of an object that there is not"},
		{"b:5:0,d:9", UsePlace, "d of 9 bytes, want 1 to 8"},
		{"b:5:0,d:0", UsePlace, "d of 0 bytes"},
		{"tr:11:2", UsePlace, "the address of the variable is a floating-point number"},
		{"tr:11:2,d:8", UsePlace, "d of a floating-point number"},
		{"tr:11:2,c:1,plus,v", UsePlace, "operation 2: plus of operands of different types"},
		{"tr:11:2,tr:12:2,or,v", UsePlace, "or of floating-point numbers"},
		{"tr:11:2,c:1,shl,v", UsePlace, "shl of a floating-point number"},
		{"tr:11:2,not,v", UsePlace, "not of a floating-point number"},
		{"tc:1:01,v", UsePlace, "tc of 1 bytes for a type of 4"},
		{"tr:5:4,v", UsePlace, "type 4 is no number"},
		{"tr:5:0,v", UsePlace, "tr without a type"},
		{"tr:5:1,reinterpret:3,v", UsePlace, "reinterpret of 4 bytes as 8"},
		{"b:5:0,td:11:1,v", UsePlace, "td of 17 bytes, want 1 to 16"},
		{"entry(plus),v", UsePlace, "entry value: plus needs 2 entries"},
		{"tr:5:1,c:1,plus,v", UsePlace, "mixed: operation 2: plus of operands of different types"},
		{"tr:5:1,c:1,plus,tr:5:3,plus,plus", UseNumber, "plus needs 2 entries"}, // rather than the mixture before it
		{strings.Repeat("dup,", 255) + "dup", UseObject, "more than 256 entries"},
	} {
		in, problems := parse([]byte(types + "INFO VAR E " + strings.TrimSuffix(tt.expr, ",nonsense") + "\n"))
		if len(problems) > 0 {
			t.Fatalf("%s: %q", tt.expr, problems)
		}
		got := ""
		if fault := in.Verify(1, tt.use, 8); fault != nil {
			got = "operation " + string('0'+rune(fault.Op%10)) + ": " + fault.Msg
			if fault.Mixed {
				got = "mixed: " + got
			}
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%.80s: got %q, want %q", tt.expr, got, tt.want)
		}
	}
}

// A long expression of jumps is followed once.
func TestVerifyJumps(t *testing.T) {
	var b strings.Builder
	b.WriteString("c:1")
	for i := range 2000 {
		b.WriteString(",dup,branch:" + []string{"0", "1"}[i%2])
	}
	in, _ := parse([]byte("INFO VAR 1\nINFO VAR E " + b.String() + "\n"))
	if fault := in.Verify(1, UseNumber, 8); fault == nil {
		t.Error("no fault")
	}
}
