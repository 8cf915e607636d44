package symdiff

import (
	"fmt"
	"slices"
	"testing"
)

// Details of a function name only what differs.
func TestDetails(t *testing.T) {
	for _, c := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"one size: by place", "FUNC 1000 10 0 f\n" + bodyA, "FUNC 1000 10 0 f\n1000 4 10 0\n1004 4 99 0\n1008 4 12 0\n100c 4 13 0\n",
			[]string{"lines", " +0..+4 /src/a.c:10", "-+4..+8 /src/a.c:11", "++4..+8 /src/a.c:99", " +8..+c /src/a.c:12", " +c..+10 /src/a.c:13"}},
		{"two sizes: by the order of lines", "FUNC 1000 10 0 f\n" + bodyA, "FUNC 1000 18 0 f\n1000 6 10 0\n1006 5 11 0\n100b 3 50 0\n100e 5 12 0\n1013 5 13 0\n",
			[]string{"lines", " /src/a.c:10", " /src/a.c:11", "+/src/a.c:50", " /src/a.c:12", " /src/a.c:13"}},
		{"two sizes, the same lines", "FUNC 1000 8 0 f\n1000 4 10 0\n1004 4 11 0\n", "FUNC 1000 a 0 f\n1000 4 10 0\n1004 6 11 0\n",
			[]string{"lines", " /src/a.c:10 (0x4 bytes)", "-/src/a.c:11 (0x4 bytes)", "+/src/a.c:11 (0x6 bytes)"}},
		{"calls", "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" + bodyA, "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 2 1 1000 4\n" + bodyA,
			[]string{"inlines", " inner called at /src/a.c:5 +0..+8", "+  other called at /usr/include/t.h:6 +0..+4"}},
		{"rules: the first address with both",
			"FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 .cfa: $rsp 16 +\nSTACK CFI 1008 .cfa: $rsp 8 +\n",
			"FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 .cfa: $rsp 24 +\nSTACK CFI 1008 .cfa: $rsp 8 +\n",
			[]string{"STACK CFI", " +0 .cfa: $rsp 8 + .ra: .cfa 8 - ^", "-+4 .cfa: $rsp 16 + .ra: .cfa 8 - ^", "++4 .cfa: $rsp 24 + .ra: .cfa 8 - ^", " +8 .cfa: $rsp 8 + .ra: .cfa 8 - ^"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, []byte(header+c.old), []byte(header+c.new), Options{})
			if len(r.Changes) != 1 {
				t.Fatal(listed(r))
			}
			d, err := r.Details().Detail(r.Changes[0])
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range d.Sections {
				got = append(got, s.Name)
				for _, op := range s.Ops {
					got = append(got, fmt.Sprintf("%c%s", op.Sign, op.Text))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
