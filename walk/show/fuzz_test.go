package show

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/eval"
)

// maxShown limits what shown shows, in bytes, as a report limits the values of a dump.
const maxShown = 4 << 20

// shown shows the variables of all functions of records, over a memory, with one Printer as a report does, and returns
// the texts.
func shown(t testing.TB, records, memory []byte, redact ...string) []string {
	var p vars.Parser
	for i, line := range bytes.Split(records, []byte("\n")) {
		if text, ok := bytes.CutPrefix(line, []byte(vars.Prefix)); ok {
			p.Add(text, i+1)
		}
	}
	in, err := p.Finish(func(*vars.BadRecord) error { return nil })
	if in == nil || err != nil {
		return nil
	}
	m := dump.NewMemory(binary.LittleEndian, []dump.Region{{Addr: 0x1000, Data: memory}})
	var texts []string
	printer, left := New(Options{Redact: redact, Symbol: func(uint64) string { return "sym" }}), maxShown
	for i := range in.Funcs {
		f := &in.Funcs[i]
		frame := &eval.Frame{
			Arch: arch.X86_64, Order: m.Order, Memory: &m, Info: in, Base: 0x1000, Func: f,
			Scopes:   in.At(f.RVA, []int{0}),
			Register: func(i int) ([]byte, bool) { return words(0x1000 + uint64(8*i)), true },
			CFA:      func() (uint64, bool) { return 0x1080, true },
			TLS:      func(offset uint64) (uint64, string) { return 0x1000 + offset, "" },
			Caller:   func() (*eval.Frame, vars.CallSite, error) { return nil, vars.CallSite{}, eval.ErrNoCallSite },
		}
		for depth := range 2 {
			for _, v := range frame.Depth(depth) {
				if left -= len(v.Bytes); left < 0 {
					return texts
				}
				n := printer.Tree(frame, &v)
				texts = append(texts, n.Value, printer.Text(frame, &v))
				left -= len(n.Value)
			}
		}
	}
	return texts
}

// seed has variables of many kinds.
const seed = `INFO VAR 1 all full
INFO VAR T b#4 "int %5
INFO VAR T b#1 "char %6
INFO VAR T k2
INFO VAR T p3#8
INFO VAR T s#10 "Point .1:x .1@4/2+3:bits .4@8:name
INFO VAR T a1 [;;4;
INFO VAR T e1#4 "Colour =1:Red =2:Blue
INFO VAR T s#18 "std::string .4:_M_dataplus .1@8:_M_string_length
INFO VAR T s#10 "core::option::Option |1:tag ?0 ?1 .5@8:Some
INFO VAR T u#8 "U .1:i .4:p
INFO VAR T c#8 "D .5*4^:base
INFO VAR T t5 "Alias
INFO VAR E r:5 cfa f:-20 p:8 a:10 r:5,piece:4,piece:4,r:4,piece:8 entry(r:5),v pointer:8:3:0 c:7,v value:0102
INFO VAR V p1:a l4:b l5+3:c l6:d l7:e l8:f l9:g la:h lb:i lc:password
INFO VAR G 1,,,,,,,,,
INFO VAR F 0 40 2/i0 1=1=3=3=5=9=3=5=3=5=3{h1-=8=6=7-=a-----}
`

// maxText is the maximum length in bytes of a text that shown makes of hostile records.
const maxText = 1 << 20

// However hostile the records and the memory are, showing them is fast, and the text is harmless and short.
func FuzzShow(f *testing.F) {
	f.Add([]byte(seed), []byte(strings.Repeat("\x10\x10\x00\x00\x00\x00\x00\x00text\x1b[31m\x00\x01\x02\x03", 20)))
	f.Fuzz(func(t *testing.T, records, memory []byte) {
		for _, text := range shown(t, records, memory, "pass*") {
			if len(text) > maxText {
				t.Fatalf("a text of %d bytes", len(text))
			}
			if i := strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) }); i >= 0 {
				t.Fatalf("%q", text[max(0, i-20):min(len(text), i+20)])
			}
		}
	})
}

// hostileTypes returns types whose size grows exponentially with their number.
func hostileTypes() map[string]string {
	const head, tail = "INFO VAR 1 all full\n", "INFO VAR E cfa\nINFO VAR V l1:v\nINFO VAR G 1\nINFO VAR F 0 40 1 1=1\n"
	all := map[string]string{}
	types := func(name string, n int, line func(i int) string) {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			b.WriteString("INFO VAR T " + line(i) + "\n")
		}
		all[name] = head + b.String() + tail
	}
	hex := func(i int) string { return strconv.FormatInt(int64(i), 16) }
	types("a chain of typedefs", 200_000, func(i int) string { return "t" + hex(min(i+1, 200_000)) })
	types("structures in structures", 40, func(i int) string {
		return "s#40 \"S" + strings.Repeat(" ."+hex(min(i+1, 40))+":m", 40)
	})
	types("a structure of itself", 1, func(int) string { return "s#40 \"S .1:a .1:b .1:c" })
	types("pointers to itself", 1, func(int) string { return "p1#8" })
	types("arrays of arrays", 50, func(i int) string { return "a" + hex(min(i+1, 50)) + " [;;ffff;" })
	types("functions of functions", 40, func(i int) string { return "f" + hex(min(i+1, 40)) + "#8 ," + hex(min(i+1, 40)) + " ,1" })
	types("a number of a megabyte", 1, func(int) string { return "b#80000 \"int %5" })
	types("a structure of many chains", 100_000, func(i int) string {
		if i == 1 {
			return "s#40 \"S" + strings.Repeat(" .2:m", 1000)
		}
		return "k" + hex(min(i+1, 100_000))
	})
	types("variants of variants", 40, func(i int) string {
		next := hex(min(i+1, 40))
		return "s#40 \"E |" + next + ":tag" + strings.Repeat(" ?0 ."+next+":m", 40)
	})
	return all
}

// Types designed to be costly are shown quickly.
func TestHostileTypes(t *testing.T) {
	memory := bytes.Repeat([]byte{0x40, 0x10, 0, 0, 0, 0, 0, 0}, 100)
	for name, records := range hostileTypes() {
		for _, redact := range []string{"secret*", "v"} {
			texts := shown(t, []byte(records), memory, redact)
			if len(texts) == 0 {
				t.Errorf("%s: no text", name)
			}
			for _, text := range texts {
				if len(text) > maxText {
					t.Errorf("%s: a text of %d bytes", name, len(text))
				}
			}
		}
	}
}
