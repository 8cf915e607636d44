package hostile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// hostileTextCommands are commands that read m.sym in addition to the commands of hostileSymbolCommands that
// write files: other outputs of lint, and comparisons with a sound symbol file.
var hostileTextCommands = append([]string{
	"lint --format sarif -o m.sarif m.sym",
	"lint --format junit -o m.junit m.sym",
	"lint --format codequality -o m.quality m.sym",
	"diff --detail m.sym other.sym",
	"diff --format html -o diff.html other.sym m.sym",
}, hostileSymbolCommands...)

// encodedTexts are symbol files that are not lines of text, or that have lines of one kind of character.
var encodedTexts = []symbolShape{
	{"one-line", 2000000, "", func(w *symText, n int) { w.f("%s", strings.Repeat("a", n)) }},
	{"carriage-returns", 40000, symLinux, each(func(w *symText, _, _ int) { w.f("FUNC 1000 10 0 a\r") })},
	{"zeros", 2000000, symLinux, func(w *symText, n int) { w.f("%s\n", strings.Repeat("\x00", n)) }},
	{"line-feeds", 1000000, symLinux, func(w *symText, n int) { w.f("%s", strings.Repeat("\n", n)) }},
	{"spaces", 2000000, symLinux, func(w *symText, n int) { w.f("FUNC %s1000 10 0 a\n", strings.Repeat(" ", n)) }},
	{"digits", 2000000, symLinux, func(w *symText, n int) { w.f("FUNC %s1000 10 0 a\n", strings.Repeat("0", n)) }},
	{"utf-16", 20000, "", func(w *symText, n int) {
		text := utf16.Encode([]rune("\ufeff" + symLinux + strings.Repeat("FUNC 1000 10 0 a\n", n)))
		for _, unit := range text {
			w.Write(binary.LittleEndian.AppendUint16(nil, unit))
		}
	}},
	{"byte-order-mark", 60000, "\ufeff" + symLinux, each(func(w *symText, i, _ int) { w.f("PUBLIC %x 0 a\n", i) })},
	{"latin-1", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FUNC %x 10 0 \xe4\xf6\xfc%d\n", 16*i, i) })},
	{"bidirectional", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FUNC %x 10 0 \u202ea\u2066%d\n", 16*i, i) })},
	{"bad-lines", 60000, symLinux, each(func(w *symText, _, _ int) { w.f("\xff\xfe\n") })},
}

// numberedTexts are symbol files with numbers at the limits of their types, or numbers of records that do not
// exist.
var numberedTexts = []symbolShape{
	{"origins-that-are-missing", 20000, symLinux + symFile, after(function(1), each(func(w *symText, i, _ int) { w.f("INLINE 0 1 %d %d 1000 10\n", i+5, i+9) }))},
	{"depths-of-all", 20000, symLinux + symInline, after(function(1), each(func(w *symText, i, _ int) { w.f("INLINE %d 1 0 0 1000 10\n", math.MaxInt64-i) }))},
	{"functions-at-the-end", 20000, symLinux + symFile, each(func(w *symText, i, _ int) {
		w.f("FUNC ffffffffffff%04x ffffffffffffffff 0 f\nffffffffffff%04[1]x ffffffffffffffff 1 0\n", i%65536)
	})},
	{"rules-of-all-addresses", 15000, symLinux, each(func(w *symText, i, _ int) {
		w.f("STACK CFI INIT %x ffffffffffffffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", i)
	})},
	{"registers-one-after-the-other", 8000, symLinux, after(cfiInit, each(func(w *symText, i, _ int) {
		w.f("STACK CFI %x $r%d: .cfa %[2]d - ^ $q%[2]d: .cfa\n", 0x1001+i, i)
	}))},
	{"lines-of-a-file-each", 8000, symLinux, after(each(func(w *symText, i, _ int) { w.f("FILE %d %s/%[1]d.c\n", i, strings.Repeat("d", 100)) }),
		after(function(1), each(func(w *symText, i, _ int) { w.f("%x 1 %d %d\n", 0x1000+i, i+1, i) })))},
	{"folders-above", 2000, symLinux, each(func(w *symText, i, _ int) { w.f("FILE %d %sa\n", i, strings.Repeat("../", 200)) })},
	{"parameters", 30000, symLinux, each(func(w *symText, i, _ int) { w.f("FUNC %x 10 ffffffffffffffff f\n", 16*i) })},
	{"lines-of-missing-files", 30000, symLinux, after(function(1), each(func(w *symText, i, _ int) { w.f("%x 1 %d %d\n", 0x1000+i, i+1, math.MaxInt32-i) }))},
	{"name-of-expressions", 5000, symLinux, func(w *symText, n int) { w.f("FUNC 1000 10 0 _Z1f%s\n", strings.Repeat("IXadL_Z1g", n)) }},
}

// hostileTexts returns symbol files, and lists of names with one long line.
func hostileTexts() (kinds []hostileKind) {
	other := func(int) []byte { return []byte(symLinux + symFile + "FUNC 1000 10 0 f\n1000 10 1 0\n") }
	for _, shapes := range [][]symbolShape{encodedTexts, numberedTexts} {
		for _, s := range shapes {
			kinds = append(kinds, hostileKind{name: s.name, n: s.n, commands: hostileTextCommands,
				files: hostileFiles{"m.sym": s.text, "m.dmp": smallDump, "other.sym": other}})
		}
	}
	list := func(name, from string, n int, data func(n int) []byte) {
		kinds = append(kinds, hostileKind{name: name, n: n, files: hostileFiles{"m.list": data}, commands: []string{
			fmt.Sprintf("convert --from %s --to breakpad -o m.sym m.list", from),
			fmt.Sprintf("convert --from %s --to gsym -o m.gsym m.list", from),
			fmt.Sprintf("convert --from %s --to json -o m.json m.list", from),
		}})
	}
	list("perfmap-one-line", "perfmap", 2000000, func(n int) []byte { return []byte("1000 10 " + strings.Repeat("a", n) + "\n") })
	list("perfmap-without-lines", "perfmap", 2000000, func(n int) []byte { return []byte(strings.Repeat("1", n)) })
	list("nm-one-line", "nm", 2000000, func(n int) []byte { return []byte("0000000000001000 T " + strings.Repeat("a", n) + "\n") })
	list("nm-lines-of-files", "nm", 30000, func(n int) []byte {
		return repeat(n, func(i int) []byte { return fmt.Appendf(nil, "%016x T f%d\t/a/b%[2]d.c:%[2]d\n", 0x1000+i, i) })
	})
	list("jsonl-nested", "jsonl", 100000, func(n int) []byte {
		return []byte("{\"module\":{}}\n" + strings.Repeat("{\"a\":", n) + "1" + strings.Repeat("}", n))
	})
	return kinds
}
