package symdiff

import (
	"slices"
	"strings"
	"testing"
)

const header = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a.out\nFILE 0 /src/a.c\nFILE 1 /src/b.c\nFILE 2 /usr/include/t.h\n" +
	"INLINE_ORIGIN 0 inner\nINLINE_ORIGIN 1 other\n"

// A row of records: body(1000, 10) is four lines in a.c from line 10 on, of 4 bytes
// each.
const (
	bodyA = "1000 4 10 0\n1004 4 11 0\n1008 4 12 0\n100c 4 13 0\n"
	bodyB = "1010 4 20 0\n1014 4 21 0\n1018 4 22 0\n101c 4 23 0\n"
)

var cases = []struct {
	name     string
	old, new string
	opts     Options
	want     []string
}{
	{name: "the same", old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1000 10 0 f\n" + bodyA},
	{name: "static functions of one name are distinguished by their lines",
		old:  "FUNC 1000 8 0 init\n1000 8 5 0\nFUNC 1010 8 0 init\n1010 8 7 1\nFUNC 1020 8 0 init\n1020 8 9 2\n",
		new:  "FUNC 1000 8 0 init\n1000 8 5 0\nFUNC 1010 8 0 init\n1010 8 9 2\n",
		want: []string{"function 1010>- removed", "function 1020>1010 moved"}},
	{name: "static functions of one name are distinguished by their places",
		old:  "FUNC 1000 8 0 a\nFUNC 1010 8 0 get\nFUNC 1020 8 0 b\nFUNC 1030 8 0 get\nFUNC 1040 8 0 c\nFUNC 1050 8 0 get\n",
		new:  "FUNC 1000 8 0 a\nFUNC 1010 8 0 b\nFUNC 1020 8 0 get\nFUNC 1030 8 0 c\nFUNC 1040 8 0 get\n",
		want: []string{"function 1010>- removed", "function 1020>1010 moved", "function 1030>1020 moved", "function 1040>1030 moved", "function 1050>1040 moved"}},
	{name: "renamed, with the same lines",
		old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1000 10 0 g\n" + bodyA,
		want: []string{"function 1000>1000 renamed"}},
	{name: "renamed and moved, with the same lines",
		old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1010 10 0 g\n" + "1010 4 10 0\n1014 4 11 0\n1018 4 12 0\n101c 4 13 0\n",
		want: []string{"function 1000>1010 renamed moved"}},
	{name: "renamed, with shifted lines",
		old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1000 10 0 g\n1000 4 30 0\n1004 4 31 0\n1008 4 32 0\n100c 4 33 0\n",
		want: []string{"function 1000>1000 renamed lines-shifted"}},
	{name: "other arguments, other lines",
		old: "FUNC 1000 10 0 f(int)\n" + bodyA, new: "FUNC 1000 8 0 f(char)\n1000 8 50 0\n",
		want: []string{"function 1000>1000 renamed resized lines"}},
	{name: "another overload is no part",
		old: "FUNC 1000 10 0 f(int)\n" + bodyA, new: "FUNC 1000 10 0 f(int)\n" + bodyA + "FUNC 1010 8 0 f(char)\n1010 8 50 0\n",
		want: []string{"function ->1010 added"}},
	{name: "another suffix",
		old: "FUNC 1000 10 0 f.isra.0\n" + bodyA, new: "FUNC 1000 8 0 f.constprop.1\n1000 8 50 0\n",
		want: []string{"function 1000>1000 renamed resized lines"}},
	{name: "a cold part is no other part",
		old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 2000 8 0 f.part.0\n2000 8 50 0\n", new: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 3000 c 0 f.cold\n3000 c 90 0\n",
		want: []string{"function 2000>- removed merged", "function ->3000 added split"}},
	{name: "renamed without lines, between others",
		old: "FUNC 1000 10 0 a\nFUNC 1010 8 0 f\nFUNC 1020 10 0 b\n", new: "FUNC 1000 10 0 a\nFUNC 1010 8 0 g\nFUNC 1020 10 0 b\n",
		want: []string{"function 1010>1010 renamed"}},
	{name: "a row renamed without lines",
		old: "FUNC 1000 10 0 a\nFUNC 1010 8 0 f\nFUNC 1020 4 0 g\nFUNC 1030 10 0 b\n", new: "FUNC 1000 10 0 a\nFUNC 1010 8 0 x\nFUNC 1020 4 0 y\nFUNC 1030 10 0 b\n",
		want: []string{"function 1010>1010 renamed", "function 1020>1020 renamed"}},
	{name: "another function of the same size in its place",
		old: "FUNC 1000 10 0 a\nFUNC 1010 8 0 f\n1010 8 5 0\nFUNC 1020 10 0 b\n", new: "FUNC 1000 10 0 a\nFUNC 1010 8 0 g\n1010 8 9 1\nFUNC 1020 10 0 b\n",
		want: []string{"function ->1010 added", "function 1010>- removed"}},
	{name: "split: cold", old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1000 8 0 f\n1000 4 10 0\n1004 4 11 0\nFUNC 2000 8 0 f.cold\n2000 4 12 0\n2004 4 13 0\n",
		want: []string{"function 1000>1000 resized lines", "function ->2000 added split"}},
	{name: "split: clone of a demangled name", old: "FUNC 1000 10 0 f(int)\n" + bodyA,
		new:  "FUNC 1000 8 0 f(int)\n1000 4 10 0\n1004 4 11 0\nFUNC 2000 8 0 f(int) [clone .cold]\n2000 4 12 0\n2004 4 13 0\n",
		want: []string{"function 1000>1000 resized lines", "function ->2000 added split"}},
	{name: "split: outlined lines, under another name",
		old:  "FUNC 1000 18 0 f\n" + bodyA + "1010 4 14 0\n1014 4 15 0\n",
		new:  "FUNC 1000 8 0 f\n1000 4 10 0\n1004 4 15 0\nFUNC 2000 10 0 outlined\n2000 4 11 0\n2004 4 12 0\n2008 4 13 0\n200c 4 14 0\n",
		want: []string{"function 1000>1000 resized lines", "function ->2000 added split"}},
	{name: "merged",
		old:  "FUNC 1000 8 0 f\n1000 4 10 0\n1004 4 11 0\nFUNC 2000 8 0 f.part.0\n2000 4 12 0\n2004 4 13 0\n",
		new:  "FUNC 1000 10 0 f\n" + bodyA,
		want: []string{"function 1000>1000 resized lines", "function 2000>- removed merged"}},
	{name: "merged, under another name",
		old:  "FUNC 1000 8 0 f\n1000 4 10 0\n1004 4 15 0\nFUNC 2000 10 0 outlined\n2000 4 11 0\n2004 4 12 0\n2008 4 13 0\n200c 4 14 0\n",
		new:  "FUNC 1000 18 0 f\n" + bodyA + "1010 4 14 0\n1014 4 15 0\n",
		want: []string{"function 1000>1000 resized lines", "function 2000>- removed merged"}},
	{name: "a part with the name of its function", old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 1010 8 0 f\n1010 4 40 1\n1014 4 11 0\n", new: "FUNC 1000 10 0 f\n" + bodyA,
		want: []string{"function 1010>- removed merged"}},
	{name: "a part with the name of its function, of inlined calls only", old: "FUNC 1000 10 0 f\n" + bodyA,
		new:  "FUNC 1000 10 0 f\n" + bodyA + "FUNC 1010 8 0 f\nINLINE 0 12 0 0 1010 8\n1010 8 40 1\n",
		want: []string{"function ->1010 added split"}},
	{name: "a copy of a function is no part", old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 1010 10 0 f\n1010 10 10 0\n", new: "FUNC 1000 10 0 f\n" + bodyA,
		want: []string{"function 1010>- removed lost"}},
	{name: "a static function of the name of another is no part", old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 1010 10 0 f\n1010 10 30 1\n", new: "FUNC 1000 10 0 f\n" + bodyA,
		want: []string{"function 1010>- removed lost"}},
	{name: "nameless functions are known by their lines",
		old:  "FUNC 1000 10 0 <name omitted>\n" + bodyA + "FUNC 1010 10 0 <name omitted>\n" + bodyB,
		new:  "FUNC 1000 10 0 <name omitted>\n1000 4 20 0\n1004 4 21 0\n1008 4 22 0\n100c 4 23 0\nFUNC 1010 10 0 g\n1010 4 10 0\n1014 4 11 0\n1018 4 12 0\n101c 4 13 0\n",
		want: []string{"function 1010>1000 moved", "function 1000>1010 renamed moved"}},
	{name: "a name is lost", old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 1000 10 0 <name omitted>\n" + bodyA,
		want: []string{"function 1000>1000 renamed lost-name"}},
	{name: "a mangled name is worse", old: "FUNC 1000 10 0 f(int)\n" + bodyA, new: "FUNC 1000 10 0 _Z1fi\n" + bodyA,
		want: []string{"function 1000>1000 renamed lost-name"}},
	{name: "the mark m", old: "FUNC 1000 10 0 f\n", new: "FUNC m 1000 10 0 f\n", want: []string{"function 1000>1000 multiple"}},
	{name: "instances of a template with equal lines",
		old:  "FUNC 1000 8 0 get<int>\n1000 8 5 2\nFUNC 1010 8 0 get<long>\n1010 8 5 2\nFUNC 1020 8 0 z\n",
		new:  "FUNC 1000 8 0 get<int>\n1000 8 5 2\nFUNC 1010 8 0 get<long>\n1010 8 5 2\nFUNC 1020 8 0 get<char>\n1020 8 5 2\nFUNC 1030 8 0 z\n",
		want: []string{"function ->1020 added", "function 1020>1030 moved"}},
	{name: "two functions of one address",
		old: "FUNC 1000 8 0 a\n1000 8 5 0\nFUNC 1000 8 0 b\n1000 8 6 0\n", new: "FUNC 1000 8 0 b\n1000 8 6 0\nFUNC 1000 8 0 a\n1000 8 7 0\n",
		want: []string{"function 1000>1000 lines-shifted"}},
	{name: "one of two at an address is no loss of code", old: "FUNC 1000 8 0 a\nFUNC 1000 8 0 b\n", new: "FUNC m 1000 8 0 a\n",
		want: []string{"function 1000>1000 multiple", "function 1000>- removed"}},
	{name: "functions that overlap", old: "FUNC 1000 20 0 a\nFUNC 1010 20 0 b\n", new: "FUNC 1000 20 0 a\nFUNC 1010 28 0 b\n",
		want: []string{"function 1010>1010 resized"}},
	{name: "a function over the end of addresses", old: "FUNC fffffffffffffff0 10 0 a\nfffffffffffffff0 10 1 0\n", new: "FUNC fffffffffffffff0 10 0 a\nfffffffffffffff0 10 2 0\n",
		want: []string{"function fffffffffffffff0>fffffffffffffff0 lines-shifted"}},
	{name: "sizes of no real function", old: "FUNC 0 ffffffffffffffff 0 a\nSTACK CFI INIT 0 ffffffffffffffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", new: "FUNC 0 fffffffffffffffe 0 a\n",
		want: []string{"function 0>0 resized cfi lost-cfi"}},

	{name: "a FUNC became a PUBLIC", old: "FUNC 1000 10 0 f\n" + bodyA, new: "PUBLIC 1000 0 f\n", want: []string{"function 1000>- removed became-public"}},
	{name: "a FUNC is gone, its PUBLIC is there", old: "FUNC 1000 10 0 f\n" + bodyA + "PUBLIC 1004 0 f\n", new: "PUBLIC 1004 0 f\n",
		want: []string{"function 1000>- removed became-public"}},
	{name: "a FUNC is gone, the PUBLIC after it is another's", old: "FUNC 1000 10 0 f\n" + bodyA + "PUBLIC 1010 0 f\nPUBLIC 1004 0 g\n", new: "PUBLIC 1010 0 f\nPUBLIC 1004 0 g\n",
		want: []string{"function 1000>- removed lost"}},
	{name: "of two FUNCs of a name the one at its place became a PUBLIC", old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 1010 10 0 f\n" + bodyB, new: "PUBLIC 1010 0 f\n",
		want: []string{"function 1000>- removed lost", "function 1010>- removed became-public"}},
	{name: "of two PUBLICs of a name the one at its place became a FUNC", old: "PUBLIC 1000 0 f\nPUBLIC 1010 0 f\n", new: "FUNC 1010 10 0 f\n" + bodyB + "FUNC 2000 10 0 f\n2000 10 5 0\n",
		want: []string{"function ->1010 added became-function", "function ->2000 added"}},
	{name: "a PUBLIC became a FUNC", old: "PUBLIC 1000 0 f\n", new: "FUNC 1000 10 0 f\n" + bodyA, want: []string{"function ->1000 added became-function"}},
	{name: "a PUBLIC is gone", old: "PUBLIC 1000 0 f\n", new: "PUBLIC 2000 0 g\n", want: []string{"PUBLIC 1000>- removed lost", "PUBLIC ->2000 added"}},
	{name: "a PUBLIC is in a function now", old: "PUBLIC 1004 0 f\n", new: "FUNC 1000 10 0 g\n", want: []string{"function ->1000 added", "PUBLIC 1004>- removed"}},
	{name: "a PUBLIC renamed", old: "PUBLIC 1000 0 f\n", new: "PUBLIC 1000 0 g\n", want: []string{"PUBLIC 1000>1000 renamed"}},
	{name: "a PUBLIC renamed where code moved", old: "PUBLIC 800 0 a\nPUBLIC 1000 0 f\n", new: "PUBLIC 900 0 a\nPUBLIC 1100 0 g\n",
		want: []string{"PUBLIC 800>900 moved", "PUBLIC 1000>1100 renamed moved"}},
	{name: "PUBLICs of one address", old: "PUBLIC 1000 0 a\nPUBLIC 1000 0 b\n", new: "PUBLIC 1000 0 a\nPUBLIC 1000 0 c\n", want: []string{"PUBLIC 1000>1000 renamed"}},

	{name: "a function is gone, its code is not", old: "FUNC 1000 10 0 a\nFUNC 1010 10 0 b\nFUNC 1020 10 0 c\n", new: "FUNC 1000 10 0 a\nFUNC 1020 10 0 c\n",
		want: []string{"function 1010>- removed lost"}},
	{name: "a function is gone with its code", old: "FUNC 1000 10 0 a\nFUNC 1010 10 0 b\nFUNC 1020 10 0 c\n", new: "FUNC 1000 10 0 a\nFUNC 1010 10 0 c\n",
		want: []string{"function 1010>- removed", "function 1020>1010 moved"}},
	{name: "another function has its code", old: "FUNC 1000 10 0 a\nFUNC 1010 10 0 b\nFUNC 1020 10 0 c\n", new: "FUNC 1000 20 0 a\nFUNC 1020 10 0 c\n",
		want: []string{"function 1000>1000 resized", "function 1010>- removed"}},
	{name: "padding counts as code now", old: "FUNC 1000 b 0 f\n1000 b 5 0\nSTACK CFI INIT 1000 b .cfa: $rsp 8 + .ra: .cfa 8 - ^\n",
		new:  "FUNC 1000 10 0 f\n1000 b 5 0\nSTACK CFI INIT 1000 b .cfa: $rsp 8 + .ra: .cfa 8 - ^\n",
		want: []string{"function 1000>1000 resized"}},
	{name: "lines are lost at the end", old: "FUNC 1000 10 0 f\n1000 8 5 0\n1008 8 6 0\n", new: "FUNC 1000 10 0 f\n1000 8 5 0\n", want: []string{"function 1000>1000 lines lost-lines"}},

	{name: "rules written otherwise",
		old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1004 $rbx: .cfa -16 + ^ .cfa: $rsp 16 +\n",
		new: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .ra: .cfa 8 - ^ .cfa: 8 $rsp +\nSTACK CFI 1004 .cfa: $rsp 8 + 8 +\nSTACK CFI 1004 $rbx: -16 .cfa + ^\n"},
	{name: "rules cut otherwise",
		old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n",
		new: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 1004 c .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"},
	{name: "of INITs that overlap the first counts up to its end",
		old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 1004 c .cfa: $rsp 16 + .ra: .cfa 8 - ^\n",
		new: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 1008 8 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n"},
	{name: "of INITs at one address the shorter one counts, in any order",
		old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI INIT 1000 8 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n",
		new: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 8 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nSTACK CFI INIT 1008 8 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n"},
	{name: "a row out of its INIT is passed over",
		old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n",
		new: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1010 .cfa: $rsp 24 +\nSTACK CFI ff0 .cfa: $rsp 24 +\n"},
	{name: "bad rules", old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 .cfa: $rsp 16 +\n",
		new:  "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 .cfa: $rsp +\n",
		want: []string{"function 1000>1000 cfi lost-cfi"}},
	{name: "a rule of another register", old: "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 $rbx: .cfa 16 - ^\n",
		new:  "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa 8 - ^\nSTACK CFI 1004 $rbp: .cfa 16 - ^\n",
		want: []string{"function 1000>1000 cfi"}},
	{name: "a PLT", old: "STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nFUNC 1020 10 0 f\n",
		new:  "STACK CFI INIT 1000 30 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nFUNC 1030 10 0 f\n",
		want: []string{"function 1020>1030 moved", "STACK CFI 1000>1000 resized"}},
	{name: "a PLT without rules", old: "STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nFUNC 1020 10 0 f\n", new: "FUNC 1020 10 0 f\n",
		want: []string{"STACK CFI 1000>- removed lost-cfi"}},
	{name: "functions in a PLT now", old: "STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa 8 - ^\n", new: "STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa 8 - ^\nFUNC 1010 10 0 puts@plt\n",
		want: []string{"function ->1010 added"}},

	{name: "lines cut, joined, out of order", old: "FUNC 1000 10 0 f\n" + bodyA,
		new: "FUNC 1000 10 0 f\n100c 4 13 0\n1004 2 11 0\n1000 4 10 0\n1006 2 11 0\n1008 0 99 0\n1008 4 12 0\n"},
	{name: "line numbers of one file shifted", old: "FUNC 1000 10 0 f\n1000 4 10 0\n1004 4 5 2\n1008 8 12 0\n", new: "FUNC 1000 10 0 f\n1000 4 17 0\n1004 4 5 2\n1008 8 19 0\n",
		want: []string{"function 1000>1000 lines-shifted"}},
	{name: "code without a line", old: "FUNC 1000 10 0 f\n1000 4 10 0\n1004 c 0 0\n", new: "FUNC 1000 10 0 f\n1000 4 17 0\n1004 c 0 0\n", want: []string{"function 1000>1000 lines-shifted"}},
	{name: "inlined calls in another order", old: "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 2 1 1000 4\n" + bodyA,
		new: "FUNC 1000 10 0 f\nINLINE 1 6 2 1 1000 2 1002 2\nINLINE 0 5 0 0 1004 4 1000 4\n" + bodyA},
	{name: "another caller", old: "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 2 1 1000 4\n" + bodyA,
		new:  "FUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 0 6 2 1 1000 4\n" + bodyA,
		want: []string{"function 1000>1000 inlines"}},
	{name: "the old form of INLINE", old: "INLINE_ORIGIN 7 0 third\nFUNC 1000 10 0 f\nINLINE 0 5 7 1000 8\n" + bodyA, new: "INLINE_ORIGIN 7 third\nFUNC 1000 10 0 f\nINLINE 0 5 0 7 1000 8\n" + bodyA,
		want: []string{"INLINE records: without call files > with call files"}},
	{name: "the old form of INLINE, other calls", old: "INLINE_ORIGIN 7 third\nFUNC 1000 10 0 f\nINLINE 0 5 0 7 1000 8\n" + bodyA, new: "INLINE_ORIGIN 7 0 fourth\nFUNC 1000 10 0 f\nINLINE 0 5 7 1000 8\n" + bodyA,
		want: []string{"function 1000>1000 inlines", "INLINE records: with call files > without call files"}},
	{name: "addresses ignored", old: "FUNC 1000 10 0 f\n" + bodyA, new: "FUNC 2000 10 0 f\n2000 4 10 0\n2004 4 11 0\n2008 4 12 0\n200c 4 13 0\n", opts: Options{IgnoreAddresses: true}},
	{name: "only lines", old: "FUNC 1000 10 0 f\n" + bodyA + "FUNC 3000 8 0 g\n", new: "FUNC 1010 10 0 f\n" + bodyB, opts: Options{Topics: OnLines}, want: []string{"function 1000>1010 lines-shifted"}},
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := listed(compare(t, []byte(header+c.old), []byte(header+c.new), c.opts)); !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			if got := listed(compare(t, []byte(header+c.old), []byte(header+c.old), c.opts)); got != nil {
				t.Errorf("the old one with itself: %q", got)
			}
		})
	}
}

// Files, MODULE and INFO.
func TestCasesOfModules(t *testing.T) {
	body := "FUNC 1000 10 0 f\n" + bodyA
	for _, c := range []struct {
		name     string
		old, new string
		opts     Options
		want     []string
		worse    int
	}{
		{name: "folder moved", old: "MODULE Linux x86_64 0 a\nFILE 0 /a/src/x.c\n" + body, new: "MODULE Linux x86_64 0 a\nFILE 0 /b/src/x.c\n" + body,
			want: []string{"function 1000>1000 paths", "path /a/ > /b/: 1"}},
		{name: "folder moved, ignored", old: "MODULE Linux x86_64 0 a\nFILE 0 /a/src/x.c\n" + body, new: "MODULE Linux x86_64 0 a\nFILE 0 /b/src/x.c\n" + body, opts: Options{IgnorePaths: true}},
		{name: "file renamed", old: "MODULE Linux x86_64 0 a\nFILE 0 /a/x.c\n" + body, new: "MODULE Linux x86_64 0 a\nFILE 0 /a/y.c\n" + body,
			want: []string{"function 1000>1000 lines"}},
		{name: "one base name in two folders", old: "MODULE Linux x86_64 0 a\nFILE 0 /r/a/x.c\nFILE 1 /r/b/x.c\n" + body, new: "MODULE Linux x86_64 0 a\nFILE 0 /s/a/x.c\nFILE 1 /s/b/x.c\n" + body,
			want: []string{"function 1000>1000 paths", "path /r/ > /s/: 2"}},
		{name: "separators of Windows", old: "MODULE windows x86 0 a\nFILE 0 c:\\a\\x.c\n" + body, new: "MODULE windows x86 0 a\nFILE 0 c:\\b\\x.c\n" + body,
			want: []string{"function 1000>1000 paths", "path c:\\a\\ > c:\\b\\: 1"}},
		{name: "numbers of files", old: "MODULE Linux x86_64 0 a\nFILE 0 /a/x.c\n" + body, new: "MODULE Linux x86_64 0 a\nFILE 4294967295 /a/x.c\nFUNC 1000 10 0 f\n" + strings.ReplaceAll(bodyA, " 0\n", " 4294967295\n")},
		{name: "MODULE", old: "MODULE Linux x86_64 0 a\n", new: "MODULE mac arm64 1 b\n",
			want:  []string{"MODULE operating system: Linux > mac", "MODULE architecture: x86_64 > arm64", "MODULE id: 0 > 1", "MODULE name: a > b"},
			worse: 2},
		{name: "INFO", old: "MODULE Linux x86_64 0 a\nINFO GENERATOR x\nINFO CODE_ID 1\nINFO K 1\nINFO K 2\n", new: "MODULE Linux x86_64 0 a\nINFO K 1\nINFO CODE_ID 2\nINFO GENERATOR y\n",
			want: []string{"INFO GENERATOR: x > y", "INFO CODE_ID: 1 > 2", "INFO K: 1; 2 > 1"}},
		{name: "INFO twice", old: "MODULE Linux x86_64 0 a\nINFO K 1\nINFO K 2\n", new: "MODULE Linux x86_64 0 a\nINFO K 1\nINFO K 2\nINFO K 1\n"},
		{name: "INFO, generator ignored", old: "MODULE Linux x86_64 0 a\nINFO GENERATOR x\n", new: "MODULE Linux x86_64 0 a\nINFO GENERATOR y\n", opts: Options{IgnoreGenerator: true}},
		{name: "coverage within the tolerance", old: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\n", new: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\nFUNC 20000 40 0 g\n",
			want: []string{"function ->20000 added"}},
		{name: "coverage out of the tolerance", old: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\n", new: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\nFUNC 20000 80 0 g\n",
			want: []string{"function ->20000 added"}, worse: 1},
		{name: "no tolerance", old: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\n", new: "MODULE Linux x86_64 0 a\nFUNC 0 10000 0 f\n0 10000 1 0\nFUNC 20000 40 0 g\n",
			opts: Options{Tolerance: -1}, want: []string{"function ->20000 added"}, worse: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compare(t, []byte(c.old), []byte(c.new), c.opts)
			if got := listed(r); !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			if r.Regressions() != c.worse {
				t.Errorf("%d regressions, want %d", r.Regressions(), c.worse)
			}
		})
	}
}
