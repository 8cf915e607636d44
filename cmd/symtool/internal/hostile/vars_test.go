package hostile

import (
	"bytes"
	"strings"
)

// hostileVarCommands are commands that read the records of m.sym, and show values on the stack of m.dmp.
var hostileVarCommands = []string{
	"walk -s m.sym --brief --vars all m.dmp",
	"walk -s m.sym --format jsonl --vars all m.dmp",
	"walk -s m.sym --format jsonl --vars all --vars-depth 60 --vars-length 1000 --vars-redact pass*word --vars-redact x* m.dmp",
	"lint m.sym",
	"lint --format json m.sym",
	"convert --to breakpad -o again.sym m.sym",
	"convert --to json -o m.json m.sym",
	"convert --to jsonl -o m.jsonl m.sym",
	"convert --from json --to breakpad -o fromjson.sym m.json",
	"diff --vars m.sym again.sym",
	"diff --vars --detail --format json m.sym other.sym",
	"diff --vars other.sym m.sym",
}

// hostileVarFileCommands are commands that read the records of m.vars, which is beside m.sym.
var hostileVarFileCommands = []string{
	"walk -s m.sym --brief --vars all m.dmp",
	"walk -s m.sym --format jsonl --vars all m.dmp",
	"lint m.vars",
	"diff --vars m.vars m.sym",
}

// hostileVarDumpCommands are commands that read the variables of m.elf.
var hostileVarDumpCommands = []string{
	"dump --vars all -o m.sym m.elf",
	"dump --vars all -j 4 -o m4.sym m.elf",
	"dump --vars params --vars-types names -o names.sym m.elf",
	"dump --vars all --store s m.elf",
	"lint m.sym",
	"walk -s m.sym --brief --vars all m.dmp",
	"walk --no-debuginfod --binaries m.elf --brief --vars all m.dmp",
	"diff --vars m.elf m.sym",
}

const (
	// varHead is a function over the whole module. The walker finds its frames by rules.
	varHead  = symLinux + "FUNC 0 100000 0 f\nSTACK CFI INIT 0 100000 .cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^\nINFO VAR 1 all full\n"
	varOther = varHead + "INFO VAR T b#4 \"int %5\nINFO VAR E f:-14\nINFO VAR V l1:other\nINFO VAR G 1\nINFO VAR F 0 100000 0 1=1\n"
)

// hostileTypes is the memory that records may take beyond the limit: a type is 16 bytes of text and 80 in memory;
// a variable of a function is one byte, and 8 in each of its frames; a variable without a name is 2 bytes, and 40
// in memory.
const hostileTypes = 64 << 20

// varTypes returns a body of records in which type 1 is hostile: variables of that type, of a pointer to it and of
// a structure that contains it are in the frame.
func varTypes(types func(w *symText, n int)) func(*symText, int) {
	return func(w *symText, n int) {
		types(w, n)
		w.f("INFO VAR E b:6:0 f:0 cfa\nINFO VAR V l1:v p1:w l1:x\nINFO VAR G 1,2,3\nINFO VAR F 0 100000 3 1=1=2=3\n")
	}
}

// varExprs returns a body of records in which expression 1 is hostile: variables 1 and 2, with labels 1 and 2, are
// at expressions 1 and 2.
func varExprs(exprs func(w *symText, n int)) func(*symText, int) {
	return func(w *symText, n int) {
		w.f("INFO VAR T b#8 \"long %%5\nINFO VAR T p1#8\nINFO VAR T a1 [;;e:1;\n")
		exprs(w, n)
		w.f("INFO VAR V l1+1:a l2+2:b l3+3:c\nINFO VAR G 1,2,3\nINFO VAR F 0 100000 0 1=1=2=1\n")
	}
}

// list joins the texts that part returns.
func list(n int, separator string, part func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = part(i)
	}
	return strings.Join(parts, separator)
}

func always(text string) func(int) string { return func(int) string { return text } }

// hexOf formats a number for a record.
func hexOf(n int) string {
	var w symText
	w.f("%x", n)
	return w.String()
}

var varTypeShapes = []symbolShape{
	{"type-cycle", 40000, varHead, varTypes(each(func(w *symText, i, n int) { w.f("INFO VAR T t%x \"t\n", 1+(i+1)%n) }))},
	{"type-chain", 40000, varHead, varTypes(each(func(w *symText, i, _ int) { w.f("INFO VAR T p%x#8\n", i+2) }))},
	{"type-members-doubled", 20000, varHead, varTypes(each(func(w *symText, i, _ int) {
		w.f("INFO VAR T s#20 \"s .%x@0:a .%x@8:b .%x@10:c\n", i+2, i+2, i+1)
	}))},
	{"type-pointers-doubled", 20000, varHead, varTypes(each(func(w *symText, i, _ int) {
		w.f("INFO VAR T p%x#8\nINFO VAR T s#20 \"s .%x@0:a .%x@8:b\n", 2*i+2, 2*i+3, 2*i+3)
	}))},
	{"type-names-doubled", 20000, varHead, varTypes(each(func(w *symText, i, _ int) { w.f("INFO VAR T f%x ,%x ,%x\n", i+2, i+2, i+2) }))},
	{"type-many-members", 40000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"s%s\nINFO VAR T b#1 \"char %%6\n", list(n, "", always(" .2@3:m")))
	})},
	{"type-many-bases", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"std::basic_string<char>%s\nINFO VAR T s#40 \"base .1@0^:\n", list(n, "", always(" .2@0^:")))
	})},
	{"type-many-variants", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"e |2@0:%s\nINFO VAR T b#8 \"u64 %%7\n", list(n, "", func(i int) string { return " ?" + hexOf(i) + "-" + hexOf(i+9) + " .2@8:v" }))
	})},
	{"type-many-parts", 10000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"e%s\nINFO VAR T b#8 \"u64 %%7\n", list(n, "", always(" |2@0: ?0 .1@8:v ? .2@0:w")))
	})},
	{"type-many-enumerators", 40000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T e#8 \"e%s\n", list(n, "", func(i int) string { return " =" + hexOf(1<<(i%63)) + ":a" }))
	})},
	{"type-many-dimensions", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T a2%s\nINFO VAR T b#1 \"char %%6\n", list(n, "", always(" [;;2;")))
	})},
	{"type-huge-array", 20000, varHead, varTypes(each(func(w *symText, i, _ int) { w.f("INFO VAR T a%x [;;7fffffffffffffff;\n", i+2) }))},
	{"type-huge-elements", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T a2 [;;10000;\nINFO VAR T s#10 \"s .3@0:a\n")
		for i := range n {
			w.f("INFO VAR T a%x [;;1;\n", i+4)
		}
	})},
	{"type-places-out-of-range", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#ffffffffffffffff \"s%s\nINFO VAR T b#ffffffffffffffff \"char %%6\n",
			list(n, "", func(i int) string { return " .2@ffffffffffffff" + hexOf(i%256) + "/ff+ffffffff:m" }))
	})},
	{"type-members-computed", 20000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"s%s\nINFO VAR T b#8 \"long %%5\n", list(n, "", always(" .1*4:m")))
		w.f("INFO VAR E b:6:0 f:0 cfa p:0%s\n", strings.Repeat(",p:1", n))
	})},
	{"type-names-long", 400, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#40 \"%s .1@0:m\n", strings.Repeat("a<", 8*n))
		for range n {
			w.f("INFO VAR T p1#8\n")
		}
		w.f("INFO VAR V%s\n", list(n, "", func(i int) string { return " l" + hexOf(i+1) + ":v" }))
	})},
	{"type-containers", 4000, varHead, varTypes(func(w *symText, n int) {
		w.f("INFO VAR T s#18 \"std::vector<a> .2@0:_M_start .2@8:_M_finish .2@10:_M_end_of_storage\nINFO VAR T p1#8\n")
		for i := range n {
			w.f("INFO VAR T s#18 \"std::vector<t%d> .%x@0:_M_start .%x@8:_M_finish\n", i, i+2, i+2)
		}
	})},
}

var varExprShapes = []symbolShape{
	{"expr-loop", 4000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E c:1,dup,dup,branch:1 skip:0%s\n", list(n, "", always(" c:0,dup,branch:0,skip:1")))
	})},
	{"expr-long", 40000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E f:0%s f:0\n", strings.Repeat(",p:1", n))
	})},
	{"expr-jumps", 20000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E c:0%s,v f:0\n", list(n, "", func(i int) string { return ",dup,branch:" + hexOf(min(2*n, 4*i+5)) }))
	})},
	{"expr-pieces", 40000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E r:0,piece:ffffffffffffffff%s f:0\n", strings.Repeat(",r:6,piece:1", n))
	})},
	{"expr-bit-pieces", 20000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E r:6,bits:1:7fffffffffffffff%s f:0\n", strings.Repeat(",f:0,bits:1:3", n))
	})},
	{"expr-call-each-other", 10000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E c:0%s call:1,call:1\n", strings.Repeat(",call:2,plus", n))
	})},
	{"expr-values-of-each-other", 10000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E c:0%s,v variable:1,variable:1,plus,v\n", strings.Repeat(",variable:2,plus", n))
	})},
	{"expr-pointers-to-each-other", 10000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E pointer:0:2:0 pointer:0:1:0%s\n", list(n, "", func(i int) string { return " pointer:0:0:" + hexOf(i+4) }))
	})},
	{"expr-entry-values", 4000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E entry(entry(entry(r:3)))%s entry(r:3),v\n", list(n, "", always(",entry(r:5),plus")))
	})},
	{"expr-data", 20000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E const:%s value:%s\n", strings.Repeat("00", n), strings.Repeat("ff", n))
	})},
	{"expr-of-bounds", 10000, varHead, varExprs(func(w *symText, n int) {
		w.f("INFO VAR E c:7fffffffffffffff,v variable:3%s\n", strings.Repeat(",p:1", n))
	})},
}

// functionVars returns a body that begins with one variable, at expression 1, in the groups 1 (once) and 2 (four
// times).
func functionVars(then func(w *symText, n int)) func(*symText, int) {
	return after(func(w *symText, _ int) {
		w.f("INFO VAR T b#4 \"int %%5\nINFO VAR E f:0 entry(r:5),v r:5\nINFO VAR V p1:a l1+1:b\nINFO VAR G 1 1,,1,\n")
	}, then)
}

var varScopeShapes = []symbolShape{
	{"scope-blocks-nested", 4000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0/oggg0oggg0 1=1%s%s\n", strings.Repeat("{h1=1", n), strings.Repeat("}", n))
	})},
	{"scope-inlines-nested", 4000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0 1=1%s%s\n", strings.Repeat("(1=1", n), strings.Repeat(")", n))
	})},
	{"scope-blocks-beside", 40000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0/hgggg0 1=1%s\n", strings.Repeat("{h1=1}", n))
	})},
	{"scope-inlines-same", 20000, symLinux + symInline + "FUNC 0 100000 0 f\nINLINE 0 1 0 0 0 100000\nINFO VAR 1 all full\n", functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0 1=1(1=1)%s\n", strings.Repeat("(0:1=1)", n))
	})},
	{"scope-ranges", 40000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0/%s 1=1{%s1=1}\n", strings.Repeat("11", n), strings.Repeat("Hh", n))
	})},
	{"scope-lists", 40000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0/1%s 1i1%s\n", strings.Repeat("1", n+1), strings.Repeat("~Hi1", n))
	})},
	{"scope-large-groups", 8000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR G %s\nINFO VAR F 0 100000 0 3%s\n", list(n, ",", always("1")), strings.Repeat("=1", n))
	})},
	{"scope-more-lines", 40000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0/hgggg0 0%s\n", strings.Repeat("\nINFO VAR + {h1=1}", n))
	})},
	{"functions-same", 20000, varHead, functionVars(each(func(w *symText, _, _ int) { w.f("INFO VAR F 0 100000 0 1=1\n") }))},
	{"functions-reversed", 20000, varHead, functionVars(each(func(w *symText, i, n int) { w.f("INFO VAR F %x 10 0 1=1\n", 16*(n-i)) }))},
	{"functions-out-of-range", 20000, varHead, functionVars(each(func(w *symText, i, _ int) { w.f("INFO VAR F ffffffffffff%04x 10 0 1=1\n", i*16) }))},
	{"sites-same", 20000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0 1=2 HGHHj2%s\n", strings.Repeat("Gj2", n))
	})},
	{"sites-arguments", 20000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 100000 0 1=2 HGHH%s\n", strings.Repeat("j2", n))
	})},
	{"sites-tail-calls", 8000, varHead, functionVars(func(w *symText, n int) {
		w.f("INFO VAR F 0 2000 0 1=2 HGHG>0j2\n")
		for i := range n {
			at := 0x2000 + 16*i
			w.f("INFO VAR F %x 10 0 1=2 L!>%xI!>%xI!>%x\n", at, at+16, at+32, at-16)
		}
	})},
}

// varGrammarShapes lists texts for which a parser may take too long.
var varGrammarShapes = []symbolShape{
	{"grammar-brackets", 100000, varHead, func(w *symText, n int) { w.f("INFO VAR E %s\n", strings.Repeat("entry(", n)) }},
	{"grammar-bad-tokens", 80000, varHead, func(w *symText, n int) {
		w.f("INFO VAR E%s\nINFO VAR V%s\nINFO VAR G%s\n", strings.Repeat(" z", n), strings.Repeat(" z", n), strings.Repeat(" z", n))
	}},
	{"grammar-bad-lines", 20000, varHead, each(func(w *symText, i, _ int) { w.f("INFO VAR %c zz\n", "TEVGF+?"[i%7]) })},
	{"grammar-undeclared", 20000, varHead, each(func(w *symText, _, _ int) { w.f("INFO VAR T sffffffff .fffffff@0:a\nINFO VAR V lfffffff:a\n") })},
	{"grammar-versions", 40000, varHead, each(func(w *symText, i, _ int) { w.f("INFO VAR %d all full\n", i%4) })},
	{"grammar-escapes", 200000, varHead, func(w *symText, n int) { w.f("INFO VAR V l0:%s\n", strings.Repeat("%1b~%", n)) }},
}

// hostileVars returns variables in symbol files, in files of their own, and in debug information.
func hostileVars() (kinds []hostileKind) {
	for _, shapes := range [][]symbolShape{varTypeShapes, varExprShapes, varScopeShapes, varGrammarShapes} {
		for _, s := range shapes {
			kinds = append(kinds, hostileKind{name: s.name, n: s.n, more: hostileTypes, commands: hostileVarCommands, files: hostileFiles{
				"m.sym": s.text, "m.dmp": smallDump, "other.sym": func(int) []byte { return []byte(varOther) },
			}})
			kinds = append(kinds, hostileKind{name: "file-" + s.name, n: s.n, more: hostileTypes, commands: hostileVarFileCommands, files: hostileFiles{
				"m.vars": s.text, "m.dmp": smallDump, "m.sym": rulesOf(".cfa: $rbp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^"),
			}})
		}
	}
	return append(kinds, hostileVarDumps()...)
}

// Abbreviations of types and variables. The abbreviation of a function has the number 2.
const (
	varAbbrev     = "\x03\x34\x00\x03\x08\x49\x13\x02\x18\x00\x00" // variable: name, type, location
	pointerAbbrev = "\x04\x0f\x00\x49\x13\x00\x00"                 // pointer_type: type
	structAbbrev  = "\x05\x13\x01\x03\x08\x0b\x0b\x00\x00"         // structure_type: name, byte_size
	memberAbbrev  = "\x06\x0d\x00\x03\x08\x49\x13\x38\x0b\x00\x00" // member: name, type, data_member_location
	blockAbbrev   = "\x07\x0b\x01\x11\x01\x12\x07\x00\x00"         // lexical_block: low_pc, high_pc
	listAbbrev    = "\x08\x34\x00\x03\x08\x49\x13\x02\x17\x00\x00" // variable: name, type, location (a list)
	arrayAbbrev   = "\x09\x01\x01\x49\x13\x00\x00"                 // array_type: type
	countAbbrev   = "\x0a\x21\x00\x37\x0b\x00\x00"                 // subrange_type: count
	valueAbbrev   = "\x0b\x34\x00\x03\x08\x49\x13\x1c\x0a\x00\x00" // variable: name, type, const_value
	siteAbbrev    = "\x0c\x89\x82\x01\x01\x11\x01\x00\x00"         // GNU_call_site: low_pc
	argAbbrev     = "\x0d\x8a\x82\x01\x00\x02\x18\x91\x42\x18\x00\x00"
	varAbbrevs    = unitAbbrev + outerAbbrev + varAbbrev + pointerAbbrev + structAbbrev + memberAbbrev + blockAbbrev + listAbbrev + arrayAbbrev +
		countAbbrev + valueAbbrev + siteAbbrev + argAbbrev
)

// inMain writes a function that covers all code, with the contents that in writes.
func inMain(w *die, in func()) *die {
	w.u8(2).str("f").u64(hostileText).u64(hostileCode)
	in()
	return w.u8(0)
}

// variableDIE writes a variable with a type and a location.
func (w *die) variableDIE(typ int, location ...int) *die {
	return w.u8(3).str("v").u32(typ).uleb(len(location)).u8(location...)
}

// buildIDSection returns the build-id note of smallDump's module.
func buildIDSection() elfSec {
	return elfSec{name: ".note.gnu.build-id", typ: 7, flags: 2, addr: hostileText - 0x100, data: pack(uint32(4), uint32(16), uint32(3), []byte("GNU\x000123456789abcdef"))}
}

// hostileVarDumps returns debug information.
func hostileVarDumps() (kinds []hostileKind) {
	add := func(name string, n int, dies func(w *die, n int)) {
		kinds = append(kinds, hostileKind{name: "dwarf-" + name, n: n, more: hostileTypes, commands: hostileVarDumpCommands, files: hostileFiles{
			"m.dmp": smallDump,
			"m.elf": func(n int) []byte {
				var w die
				dies(&w, n)
				return dwarfOf(varAbbrevs, nil, w.Bytes(), nil, buildIDSection())
			},
		}})
	}
	lists := func(n int) elfSec { // one list of n entries
		var w die
		w.times(n, func(i int) { w.u64(i%hostileCode).u64(hostileCode).u8(2, 0, 0x91, i&0x3f) }).u64(0).u64(0)
		return elfSec{name: ".debug_loc", typ: 1, data: w.Bytes()}
	}
	add("variables", 20000, func(w *die, n int) {
		inMain(w, func() { w.times(n, func(i int) { w.variableDIE(firstDIE, 0x91, i&0x3f) }) })
	})
	add("type-chain", 20000, func(w *die, n int) {
		w.times(n, func(i int) { w.u8(4).u32(firstDIE + 5*(i+1)) })
		inMain(w, func() { w.variableDIE(firstDIE, 0x91, 0) })
	})
	add("type-cycle", 20000, func(w *die, n int) {
		w.times(n, func(i int) { w.u8(4).u32(firstDIE + 5*((i+1)%n)) })
		inMain(w, func() { w.variableDIE(firstDIE, 0x91, 0) })
	})
	add("types-of-each-other", 8000, func(w *die, n int) {
		const size = 1 + 2 + 1 + 2*(1+2+4+1) + 1
		w.times(n, func(i int) {
			w.u8(5).str("s").u8(16)
			for k := range 2 {
				w.u8(6).str("m").u32(firstDIE + size*((i*7+k*13+1)%n)).u8(8 * k)
			}
			w.u8(0)
		})
		inMain(w, func() {
			w.times(n, func(i int) { w.variableDIE(firstDIE+size*i, 0x91, 0) })
		})
	})
	add("types-within-themselves", 8000, func(w *die, n int) {
		const size = 1 + 2 + 1 + 2*(1+2+4+1) + 1
		w.times(n, func(i int) {
			w.u8(5).str("s").u8(16)
			for k := range 2 {
				w.u8(6).str("m").u32(firstDIE + size*min(i+1, n-1)).u8(8 * k)
			}
			w.u8(0)
		})
		inMain(w, func() { w.variableDIE(firstDIE, 0x91, 0) })
	})
	add("arrays-of-arrays", 8000, func(w *die, n int) {
		w.times(n, func(i int) { w.u8(9).u32(firstDIE+8*(i+1)).u8(10, 255, 0) })
		inMain(w, func() { w.variableDIE(firstDIE, 0x91, 0) })
	})
	add("types-out-of-range", 20000, func(w *die, n int) {
		inMain(w, func() { w.times(n, func(i int) { w.variableDIE(0x7fffffff-i, 0x91, 0) }) })
	})
	add("blocks-nested", 2000, func(w *die, n int) {
		inMain(w, func() {
			w.times(n, func(i int) { w.u8(7).u64(hostileText).u64(hostileCode - i); w.variableDIE(firstDIE, 0x91, 0) })
			w.Write(make([]byte, n))
		})
	})
	add("expression-long", 20000, func(w *die, n int) {
		inMain(w, func() {
			w.u8(3).str("v").u32(firstDIE).uleb(2*n+2).u8(0x91, 0)
			w.times(n, func(int) { w.u8(0x23, 1) })
		})
	})
	add("expression-jumps", 20000, func(w *die, n int) {
		inMain(w, func() {
			w.u8(3).str("v").u32(firstDIE).uleb(4*n + 1).u8(0x30)
			w.times(n, func(int) { w.u8(0x12, 0x28, 0, 0) })
		})
	})
	add("expressions-nested", 4000, func(w *die, n int) {
		inMain(w, func() {
			inner := []byte{0x50}
			for range min(n, 10000) {
				inner = append(append([]byte{0xa3}, uleb(len(inner))...), inner...)
				if len(inner) > 60 {
					inner = inner[:60]
				}
			}
			w.times(n, func(int) { w.u8(3).str("v").u32(firstDIE).uleb(len(inner)).Write(inner) })
		})
	})
	add("expressions-of-each-other", 8000, func(w *die, n int) { // DW_OP_call4 and implicit pointers
		const size = 1 + 2 + 4 + 1 + 5
		inMain(w, func() {
			start := firstDIE + 1 + 2 + 16
			w.times(n, func(i int) {
				to := start + size*((i+1)%n)
				w.variableDIE(firstDIE, 0x99, to&0xff, to>>8&0xff, to>>16&0xff, to>>24)
			})
		})
	})
	add("constants", 200, func(w *die, n int) {
		inMain(w, func() {
			w.times(n, func(int) { w.u8(11).str("v").u32(firstDIE).u8(255).Write(make([]byte, 255)) })
		})
	})
	add("call-sites", 8000, func(w *die, n int) {
		inMain(w, func() {
			w.times(n, func(i int) {
				w.u8(12).u64(hostileText+0x11).u8(13, 1, 0x55, 2, 0x91, i&0x3f, 0)
			})
		})
	})
	kinds = append(kinds, hostileKind{name: "dwarf-one-list", n: 2000, commands: hostileVarDumpCommands, files: hostileFiles{
		"m.dmp": smallDump,
		"m.elf": func(n int) []byte {
			var w die
			inMain(&w, func() { w.times(n, func(int) { w.u8(8).str("v").u32(firstDIE).u32(0) }) })
			return dwarfOf(varAbbrevs, nil, w.Bytes(), nil, lists(n), buildIDSection())
		},
	}})
	return kinds
}

// uleb encodes an unsigned number as in DWARF (ULEB128).
func uleb(n int) []byte {
	var w die
	return bytes.Clone(w.uleb(n).Bytes())
}
