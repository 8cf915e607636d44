package hostile

import (
	"bytes"
	"fmt"
	"strings"
)

// hostileSymbolCommands are commands that read m.sym, and files made from it.
var hostileSymbolCommands = []string{
	"resolve -s m.sym 1000 1001 1008 2000 9000",
	"resolve -s m.sym --format json 1000 1001 1008 2000 9000",
	"resolve -s m.sym --index --format llvm 1000 1001 1008 2000 9000",
	"lint m.sym",
	"lint --format json m.sym",
	"lint --format html -o m.html m.sym",
	"convert --to breakpad -o again.sym m.sym",
	"convert --to json -o m.json m.sym",
	"convert --to json --json-names --json-indent -o names.json m.sym",
	"convert --to jsonl -o m.jsonl m.sym",
	"convert --to gsym -o m.gsym m.sym",
	"convert --to symcache -o m.symcache m.sym",
	"convert --to elf -o m.elf m.sym",
	"convert --to perfmap -o m.map m.sym",
	"convert --to nm -o m.nm m.sym",
	"convert --to sframe -o m.sframe m.sym",
	"convert --from json --to breakpad -o fromjson.sym m.json",
	"convert --to breakpad -o fromgsym.sym m.gsym",
	"convert --to breakpad -o fromsymcache.sym m.symcache",
	"convert --from perfmap --to breakpad -o frommap.sym m.map",
	"convert --from nm --to breakpad -o fromnm.sym m.nm",
	"convert --from elf --to breakpad -o fromelf.sym m.elf",
	"sframe m.sframe",
	"doctor m.sym",
	"store add store m.sym",
	"store ls store",
	"store verify store",
	hostileServe,
	"walk --symbols m.sym m.dmp",
	"walk --symbols m.sym --format jsonl --verify --trace m.dmp",
}

// hostileServe starts a server, which gets a request for addresses in a file of
// its store.
const hostileServe = "serve --listen 127.0.0.1:0 --cache-size 16M store"

// symText writes symbol files.
type symText struct{ bytes.Buffer }

func (w *symText) f(format string, args ...any) { fmt.Fprintf(w, format, args...) }

const (
	symLinux   = "MODULE Linux x86_64 " + smallDumpID + " m\n"
	symWindows = "MODULE windows x86 " + smallDumpID + " m\n"
	symFile    = "FILE 0 a.c\n"
	symInline  = symFile + "INLINE_ORIGIN 0 g\n"
	winProgram = "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =\n"
)

// symbolShape is a kind of symbol file: its beginning and its body.
type symbolShape struct {
	name string
	n    int
	head string
	body func(w *symText, n int)
}

// each returns a body of n records.
func each(record func(w *symText, i, n int)) func(*symText, int) {
	return func(w *symText, n int) {
		for i := range n {
			record(w, i, n)
		}
	}
}

// after returns a body with a line before it.
func after(line func(w *symText, n int), then func(*symText, int)) func(*symText, int) {
	return func(w *symText, n int) {
		line(w, n)
		then(w, n)
	}
}

// function returns a body with a FUNC of factor*n bytes.
func function(factor int) func(*symText, int) {
	return func(w *symText, n int) { w.f("FUNC 1000 %x 0 f\n", factor*n+10) }
}

// cfiInit writes a STACK CFI INIT for n bytes.
func cfiInit(w *symText, n int) {
	w.f("STACK CFI INIT 1000 %x .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", n+10)
}

var functionShapes = []symbolShape{
	{"func-same", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FUNC 1000 10 0 f%d\n", i) })},
	{"func-same-multiple", 24000, symLinux + symFile, each(func(w *symText, i, _ int) { w.f("FUNC m 1000 10 0 f%d\n1000 10 %d 0\n", i, i+1) })},
	{"func-nested", 24000, symLinux, each(func(w *symText, i, n int) { w.f("FUNC %x %x 0 f%d\n", 0x1000+i, 2*n-i, i) })},
	{"func-nested-lines", 24000, symLinux + symFile, each(func(w *symText, i, n int) {
		w.f("FUNC %x %x 0 f%d\n%x %x %d 0\n", 0x1000+i, 2*n-2*i, i, 0x1000+i, 2*n-2*i, i+1)
	})},
	{"func-same-name", 24000, symLinux + symFile, each(func(w *symText, i, _ int) {
		w.f("FUNC %x 10 0 f\n%x 10 %d 0\n", 0x1000+16*i, 0x1000+16*i, i+1)
	})},
	{"func-same-name-sizes", 24000, symLinux + symFile, each(func(w *symText, i, _ int) {
		w.f("FUNC %x %x 0 f\n%x %x 5 0\n", 0x1000+16*i, 8+i%8, 0x1000+16*i, 8+i%8)
	})},
	{"func-similar", 24000, symLinux + symFile, each(func(w *symText, i, _ int) {
		w.f("FUNC %x 10 0 f%d\n%x 10 1 0\n", 0x1000+16*i, i, 0x1000+16*i)
	})},
	{"func-many-lines", 12000, symLinux + symFile, each(func(w *symText, i, _ int) {
		w.f("FUNC %x 40 0 g%d\n", 0x1000+64*i, i)
		for j := range 8 {
			w.f("%x 8 %d 0\n", 0x1000+64*i+8*j, 1+j)
		}
	})},
	{"line-same", 60000, symLinux + symFile, after(function(0), each(func(w *symText, i, _ int) { w.f("1000 10 %d 0\n", i+1) }))},
	{"line-overlapping", 60000, symLinux + symFile, after(function(2), each(func(w *symText, i, n int) { w.f("%x %x %d 0\n", 0x1000+i, n, i+1) }))},
	{"line-reversed", 60000, symLinux + symFile, after(function(2), each(func(w *symText, i, n int) { w.f("%x 2 %d 0\n", 0x1000+2*n-2*i-2, i+1) }))},
	{"line-jumping", 60000, symLinux + symFile, after(function(2), each(func(w *symText, i, n int) { w.f("%x 2 %d 0\n", 0x1000+2*i, i*7919%n+1) }))},
	{"public-same", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("PUBLIC 1000 0 p%d\n", i) })},
	{"public-duplicate", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("PUBLIC 1000 0 p\n") })},
	{"public-same-name", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("PUBLIC %x 0 p\n", 0x1000+i) })},
	{"public-multiple", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("PUBLIC m %x 0 p%d\n", 0x1000+16*i, i%7) })},
	{"file-duplicate", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("FILE 0 a%d.c\n", i) })},
	{"file-many", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FILE %d /a/b/c/a%d.c\n", i, i) })},
	{"file-sparse", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FILE %d /a/b/c/a%d.c\n", i*1000003, i) })},
	{"info", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("INFO URL x%d\n", i) })},
	{"module", 15000, symLinux, each(func(w *symText, i, _ int) { w.f("%s", symLinux) })},
	{"junk", 60000, symLinux, each(func(w *symText, i, _ int) { w.f("zzz %d\n", i) })},
	{"name-long", 30000, symLinux, func(w *symText, n int) { w.f("FUNC 1000 10 0 %s\n", strings.Repeat("a", 20*n)) }},
	{"name-template", 30000, symLinux, func(w *symText, n int) {
		w.f("FUNC 1000 10 0 %s%s\n", strings.Repeat("a<", 10*n), strings.Repeat(">", 10*n))
	}},
	{"name-parentheses", 30000, symLinux, func(w *symText, n int) {
		w.f("FUNC 1000 10 0 %s%s\n", strings.Repeat("(*", 10*n), strings.Repeat(")", 10*n))
	}},
	{"name-mangled", 12000, symLinux, each(func(w *symText, i, _ int) {
		w.f("FUNC %x 10 0 _ZN1aI1b%sE%dcEv\n", 0x1000+16*i, strings.Repeat("S_", 30), i%10)
	})},
	{"path-deep", 30000, symLinux, func(w *symText, n int) { w.f("FILE 0 %sx\n", strings.Repeat("a/", 10*n)) }},
	{"path-dots", 30000, symLinux, func(w *symText, n int) { w.f("FILE 0 /%sx\n", strings.Repeat("a/../", 4*n)) }},
}

var inlineShapes = []symbolShape{
	{"inline-same", 30000, symLinux + symInline, after(function(1), each(func(w *symText, i, n int) { w.f("INLINE 0 %d 0 0 1000 %x\n", i+1, n) }))},
	{"inline-overlapping", 30000, symLinux + symInline, after(function(2), each(func(w *symText, i, n int) {
		w.f("INLINE 0 %d 0 0 %x %x\n", i+1, 0x1000+i, n)
	}))},
	{"inline-nested", 30000, symLinux + symInline, after(function(2), each(func(w *symText, i, n int) {
		w.f("INLINE %d %d 0 0 %x %x\n", i, i+1, 0x1000+i, 2*n-2*i+2)
	}))},
	{"inline-nested-same", 30000, symLinux + symInline, after(function(0), each(func(w *symText, i, _ int) {
		w.f("INLINE %d %d 0 0 1000 a\n", i, i+1)
	}))},
	{"inline-nested-lines", 18000, symLinux + symInline, after(function(1), after(
		each(func(w *symText, i, n int) { w.f("INLINE %d %d 0 0 1000 %x\n", i, i+1, n) }),
		each(func(w *symText, i, _ int) { w.f("%x 1 %d 0\n", 0x1000+i, i+1) })))},
	{"inline-ranges", 45000, symLinux + symInline, after(function(2), inlineRanges)},
	{"inline-ranges-inside", 18000, symLinux + symInline, after(function(2), after(inlineRanges, each(func(w *symText, i, _ int) {
		w.f("INLINE 1 1 0 0 %x 1\n", 0x1000+2*i)
	})))},
	{"origin-many", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("INLINE_ORIGIN %d a%d\n", i, i) })},
}

// inlineRanges writes an INLINE record with n ranges.
func inlineRanges(w *symText, n int) {
	w.f("INLINE 0 1 0 0")
	for i := range n {
		w.f(" %x 1", 0x1000+2*i)
	}
	w.f("\n")
}

// cfiRow returns a body of rows after an INIT, each with its own rule.
func cfiRow(addr func(i, n int) int, rule func(i int) string) func(*symText, int) {
	return after(cfiInit, each(func(w *symText, i, n int) { w.f("STACK CFI %x %s\n", addr(i, n), rule(i)) }))
}

func cfaOf(i int) string { return fmt.Sprintf(".cfa: $rsp %d +", 16+8*(i%5)) }

func registerOf(i int) string { return fmt.Sprintf("$z%d: .cfa %d - ^", i, 8*i) }

var ruleShapes = []symbolShape{
	{"cfi-nested", 15000, symLinux, each(func(w *symText, i, n int) {
		w.f("STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", 0x1000+i, 2*n-2*i)
	})},
	{"cfi-same", 15000, symLinux, each(func(w *symText, i, _ int) { w.f("STACK CFI INIT 1000 10 .cfa: $rsp %d + .ra: .cfa 8 - ^\n", i) })},
	{"cfi-rows", 24000, symLinux, cfiRow(func(i, _ int) int { return 0x1001 + i }, cfaOf)},
	{"cfi-rows-same", 24000, symLinux, cfiRow(func(i, _ int) int { return 0x1001 }, cfaOf)},
	{"cfi-rows-reversed", 24000, symLinux, cfiRow(func(i, n int) int { return 0x1001 + n - i }, cfaOf)},
	{"cfi-rows-registers", 24000, symLinux, cfiRow(func(i, _ int) int { return 0x1001 + i }, registerOf)},
	{"cfi-rows-registers-same", 24000, symLinux, cfiRow(func(i, _ int) int { return 0x1001 }, registerOf)},
	{"cfi-long", 120000, symLinux, func(w *symText, n int) {
		w.f("STACK CFI INIT 1000 10 .cfa: $rsp %s.ra: .cfa 8 - ^\n", strings.Repeat("8 + ", n))
	}},
	{"cfi-long-push", 120000, symLinux, func(w *symText, n int) {
		w.f("STACK CFI INIT 1000 10 .cfa: $rsp %s%s.ra: .cfa 8 - ^\n", strings.Repeat("8 ", n), strings.Repeat("+ ", n))
	}},
	{"cfi-dereferences", 240000, symLinux, func(w *symText, n int) {
		w.f("STACK CFI INIT 1000 10 .cfa: $rsp %s.ra: .cfa 8 - ^\n", strings.Repeat("^ ", n))
	}},
	{"cfi-registers", 30000, symLinux, func(w *symText, n int) { manyRegisters(w, n, 10) }},
	{"cfi-registers-rows", 15000, symLinux, func(w *symText, n int) {
		manyRegisters(w, n, n+10)
		for i := range n {
			w.f("STACK CFI %x %s\n", 0x1001+i, cfaOf(i))
		}
	}},
	{"win-nested", 9000, symWindows, each(func(w *symText, i, n int) {
		w.f("STACK WIN 4 %x %x 0 0 0 0 0 0 1 %s", 0x1000+i, 2*n-2*i, winProgram)
	})},
	{"win-same", 9000, symWindows, each(func(w *symText, i, _ int) { w.f("STACK WIN 4 1000 10 0 0 0 0 0 0 1 %s", winProgram) })},
	{"win-program", 60000, symWindows, func(w *symText, n int) {
		w.f("STACK WIN 4 1000 10 0 0 0 0 0 0 1 $T0 $ebp = %s%s", strings.Repeat("$T0 $T0 4 + = ", n), winProgram)
	}},
}

// manyRegisters writes an INIT with rules for n registers.
func manyRegisters(w *symText, n, size int) {
	w.f("STACK CFI INIT 1000 %x .cfa: $rsp 8 + .ra: .cfa 8 - ^", size)
	for i := range n {
		w.f(" $q%d: .cfa 8 -", i)
	}
	w.f("\n")
}

// hostileSymbols returns the symbol files.
func hostileSymbols() (kinds []hostileKind) {
	for _, shapes := range [][]symbolShape{functionShapes, inlineShapes, ruleShapes} {
		for _, s := range shapes {
			kinds = append(kinds, hostileKind{name: s.name, n: s.n, files: hostileFiles{"m.sym": s.text, "m.dmp": smallDump}, commands: hostileSymbolCommands})
		}
	}
	return kinds
}

func (s symbolShape) text(n int) []byte {
	w := symText{}
	w.WriteString(s.head)
	s.body(&w, n)
	return w.Bytes()
}
