package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// describe prints a record with the fields of its kind.
func describe(r *Record) string {
	s := r.Kind.String()
	m := ""
	if r.Multiple {
		m = " m"
	}
	switch r.Kind {
	case KindModule:
		s += fmt.Sprintf(" os=%s arch=%s id=%s", r.OS, r.Arch, r.DebugID)
	case KindInfo:
		s += fmt.Sprintf(" key=%s", r.Key)
	case KindFile, KindInlineOrigin:
		s += fmt.Sprintf(" %d", r.ID)
	case KindFunc:
		s += fmt.Sprintf("%s %#x+%#x param=%#x", m, r.RVA, r.Size, r.ParamSize)
	case KindPublic:
		s += fmt.Sprintf("%s %#x param=%#x", m, r.RVA, r.ParamSize)
	case KindInline:
		return s + fmt.Sprintf(" %+v old=%v", r.Inline, r.OldForm)
	case KindLine:
		return s + fmt.Sprintf(" %+v", r.Line)
	case KindStackWin:
		s += fmt.Sprintf(" %+v", r.Win)
	case KindCFIInit:
		s += fmt.Sprintf(" %#x+%#x", r.RVA, r.Size)
	case KindCFI:
		s += fmt.Sprintf(" %#x", r.RVA)
	}
	return s + fmt.Sprintf(" %q", r.Name)
}

// readAll returns all records as text.
func readAll(r *Reader) (all []string, err error) {
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, rec.Pos().String()+" "+describe(rec))
	}
}

func TestReaderRecords(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"module", "MODULE Linux x86 D3096ED481217FD4C16B29CD9BC208BA0 firefox-bin", `MODULE os=Linux arch=x86 id=D3096ED481217FD4C16B29CD9BC208BA0 "firefox-bin"`},
		{"module with spaces", "MODULE mac x86_64 1aF My App Helper", `MODULE os=mac arch=x86_64 id=1aF "My App Helper"`},
		{"info", "INFO CODE_ID FFFFFFFF module1.exe", `INFO key=CODE_ID "FFFFFFFF module1.exe"`},
		{"unknown info", "INFO WHATEVER", `INFO key=WHATEVER ""`},
		{"file", "FILE 4294967295 /a b/c.cc", `FILE 4294967295 "/a b/c.cc"`},
		{"file with backslashes", `FILE 2 f:\dd\vctools\crt\x.c`, `FILE 2 "f:\\dd\\vctools\\crt\\x.c"`},
		{"origin", "INLINE_ORIGIN 2 operator()(nsID const&, void**) const", `INLINE_ORIGIN 2 "operator()(nsID const&, void**) const"`},
		{"func", "FUNC c184 30 0 f(nsID const&, void**) const", `FUNC 0xc184+0x30 param=0x0 "f(nsID const&, void**) const"`},
		{"func m", "FUNC m c184 30 1f f", `FUNC m 0xc184+0x30 param=0x1f "f"`},
		{"func named m", "FUNC c184 30 0 m", `FUNC 0xc184+0x30 param=0x0 "m"`},
		{"func with a number for a name", "FUNC c184 30 0 30", `FUNC 0xc184+0x30 param=0x0 "30"`},
		{"func up to the last byte", "FUNC fffffffffffffff0 10 0 f", `FUNC 0xfffffffffffffff0+0x10 param=0x0 "f"`},
		{"public", "PUBLIC 2160 0 Public2_1", `PUBLIC 0x2160 param=0x0 "Public2_1"`},
		{"public m", "PUBLIC m 2160 8 m", `PUBLIC m 0x2160 param=0x8 "m"`},
		{"inline", "INLINE 0 10 3 4 d30 2a fa1 b", `INLINE {Depth:0 CallLine:10 CallFile:3 Origin:4 NoFile:false Ranges:[{RVA:3376 Size:42} {RVA:4001 Size:11}]} old=false`},
		{"old inline", "INLINE 1 39 2 15b72 684", `INLINE {Depth:1 CallLine:39 CallFile:0 Origin:2 NoFile:true Ranges:[{RVA:88946 Size:1668}]} old=true`},
		{"inline with call file -1", "INLINE 1 39 -1 2 15b72 684", `INLINE {Depth:1 CallLine:39 CallFile:0 Origin:2 NoFile:true Ranges:[{RVA:88946 Size:1668}]} old=false`},
		{"line", "c184 7 59 4", `line record {RVA:49540 Size:7 Num:59 File:4}`},
		{"line, no number", "1 0 0 0", `line record {RVA:1 Size:0 Num:0 File:0}`},
		{"line, limits", "ffffffffffffffff 1 4294967295 4294967295", `line record {RVA:18446744073709551615 Size:1 Num:4294967295 File:4294967295}`},
		{"line, all of it", "0 ffffffffffffffff 1 1", `line record {RVA:0 Size:18446744073709551615 Num:1 File:1}`},
		{"line, upper case", "CAFE A 1 1", `line record {RVA:51966 Size:10 Num:1 File:1}`},
		{"line, a word of letters", "FACE 1 1 1", `line record {RVA:64206 Size:1 Num:1 File:1}`},
		{"line, zeros", "00000000000c184 007 0000000059 04", `line record {RVA:49540 Size:7 Num:59 File:4}`},
		{"line, blanks", "  c184   7\t59  4  ", `line record {RVA:49540 Size:7 Num:59 File:4}`},
		{"win 4", "STACK WIN 4 2170 14 1 2 3 4 5 6 1 $eip 4 + ^ =", `STACK WIN {Type:4 RVA:8560 CodeSize:20 PrologueSize:1 EpilogueSize:2 ParameterSize:3 SavedRegisterSize:4 LocalSize:5 MaxStackSize:6 HasProgram:true Program: AllocatesBasePtr:false} "$eip 4 + ^ ="`},
		{"win 0", "STACK WIN 0 2170 14 1 2 3 4 5 6 0 1", `STACK WIN {Type:0 RVA:8560 CodeSize:20 PrologueSize:1 EpilogueSize:2 ParameterSize:3 SavedRegisterSize:4 LocalSize:5 MaxStackSize:6 HasProgram:false Program: AllocatesBasePtr:true} ""`},
		{"win of another type", "STACK WIN ff 1 1 0 0 0 0 0 0 0 0", `STACK WIN {Type:255 RVA:1 CodeSize:1 PrologueSize:0 EpilogueSize:0 ParameterSize:0 SavedRegisterSize:0 LocalSize:0 MaxStackSize:0 HasProgram:false Program: AllocatesBasePtr:false} ""`},
		{"cfi init", "STACK CFI INIT 804c4b0 40 .cfa: $esp 4 + $eip: .cfa 4 - ^", `STACK CFI INIT 0x804c4b0+0x40 ".cfa: $esp 4 + $eip: .cfa 4 - ^"`},
		{"cfi", "STACK CFI 804c4b1 .cfa: $esp 8 + ", `STACK CFI 0x804c4b1 ".cfa: $esp 8 +"`},
		{"cfi, as the specification aligns it", "STACK CFI      1001 .cfa: $sp 16 +", `STACK CFI 0x1001 ".cfa: $sp 16 +"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n", "\r\r\n", " \n", "\n\n\r\n \n"} {
				got, err := readAll(NewReader(strings.NewReader(tt.text+end), ReadOptions{}))
				if err != nil {
					t.Fatalf("end %q: %v", end, err)
				}
				if len(got) != 1 || got[0][strings.IndexByte(got[0], ' ')+1:] != tt.want {
					t.Errorf("end %q: got %q, want %q", end, got, tt.want)
				}
			}
		})
	}
}

// badRecords are lines that no reader accepts, each with its error.
var badRecords = []struct{ text, want string }{
	{"MODULE", "1:7: MODULE: operating system is missing"},
	{"MODULE Linux x86", "1:17: MODULE: id is missing"},
	{"MODULE Linux x86 12Z4 a", `1:18: MODULE: id "12Z4": want hexadecimal digits`},
	{"MODULE Linux x86 1234", "1:22: MODULE: name is empty"},
	{"INFO", "1:5: INFO: key is missing"},
	{"FILE", "1:5: FILE: number is missing"},
	{"FILE x.c", `1:6: FILE: number "x.c": want decimal digits`},
	{"FILE -1 x.c", `1:6: FILE: number "-1": want decimal digits`},
	{"FILE 4294967296 x.c", `1:6: FILE: number "4294967296" is over 32 bits`},
	{"FILE 99999999999999999999999999 x.c", `1:6: FILE: number "99999999999999999999999999" is over 32 bits`},
	{"FILE 1", "1:7: FILE: name is empty"},
	{"FILE 1 ", "1:8: FILE: name is empty"},
	{"INLINE_ORIGIN 7  ", "1:18: INLINE_ORIGIN: name is empty"},
	{"FUNC", "1:5: FUNC: address is missing"},
	{"FUNC m", "1:7: FUNC: address is missing"},
	{"FUNC m m 10 0 f", `1:8: FUNC: address "m": want hexadecimal digits`},
	{"FUNC 1000 10 f", `1:15: FUNC: name is empty`}, // f is a number
	{"FUNC 1000 10 g", `1:14: FUNC: parameter size "g": want hexadecimal digits`},
	{"FUNC 1000 10 0", "1:15: FUNC: name is empty"},
	{"FUNC 0x1000 10 0 f", `1:6: FUNC: address "0x1000": want hexadecimal digits`},
	{"FUNC 10000000000000000 10 0 f", `1:6: FUNC: address "10000000000000000" is over 64 bits`},
	{"FUNC fffffffffffffff0 11 0 f", "1:23: FUNC: size 11 from fffffffffffffff0 passes the end of the 64-bit address space"},
	{"PUBLIC 2160 0", "1:14: PUBLIC: name is empty"},
	{"PUBLIC 2160", "1:12: PUBLIC: parameter size is missing"},
	{"INLINE 0 10", "1:12: INLINE: call file is missing"},
	{"INLINE 0 10 3", "1:14: INLINE: address is missing"},
	{"INLINE 0 10 3 4", "1:16: INLINE: address is missing"},
	{"INLINE 0 10 3 4 d30 2a x y", `1:24: INLINE: address "x": want hexadecimal digits`},
	{"INLINE 0 10 3 4 ffffffffffffffff 2", "1:34: INLINE: size 2 from ffffffffffffffff passes the end of the 64-bit address space"},
	{"c184 7 59", "1:10: line record: file is missing"},
	{"c184 7 59 4 1", `1:13: line record: "1" after the file, which is the last field`},
	{"c184 7 -1 4", `1:8: line record: line "-1": want decimal digits`},
	{"c184 7 4294967296 4", `1:8: line record: line "4294967296" is over 32 bits`},
	{"c184 7 59 4x", `1:11: line record: file "4x": want decimal digits`},
	{"fffffffffffffffff 7 59 4", `1:1: line record: address "fffffffffffffffff" is over 64 bits`},
	{"2 ffffffffffffffff 59 4", "1:3: line record: size ffffffffffffffff from 2 passes the end of the 64-bit address space"},
	{"STACK", `1:6: unknown record STACK "": want WIN or CFI`},
	{"STACK FOO 1 2", `1:7: unknown record STACK "FOO": want WIN or CFI`},
	{"STACK WIN 4 1000 c 1 0 0 0 0 0 1", "1:33: STACK WIN: program is missing"},
	{"STACK WIN 0 1000 c 1 0 0 0 0 0 0", "1:33: STACK WIN: base pointer flag is missing"},
	{"STACK WIN 0 1000 c 1 0 0 0 0 0 0 1 2", `1:36: STACK WIN: "2" after the base pointer flag, which is the last field`},
	{"STACK WIN 100000000 1000 c 1 0 0 0 0 0 0 1", "1:11: STACK WIN: type 100000000 is over 32 bits"},
	{"STACK CFI", "1:10: STACK CFI: address is missing"},
	{"STACK CFI 1000", "1:15: STACK CFI: rules are missing"},
	{"STACK CFI 1000 $rsp 8 +", `1:16: STACK CFI: rule "$rsp 8 +": want a register and a colon first`},
	{"STACK CFI 1000 : 8", `1:16: STACK CFI: rule ": 8": want a register and a colon first`},
	{"STACK CFI 1000 .cfa: $rsp\r8 +", `1:26: STACK CFI: rules with a control character: "\r8 +"`},
	{"STACK CFI 1000 .\x10fa: é\u0085", `1:17: STACK CFI: rules with a control character: "\x10fa: é\u0085"`},
	{"STACK CFI 1000 .fa: é\u0085", `1:23: STACK CFI: rules with a control character: "\u0085"`},
	{"STACK CFI INIT 1000 10", "1:23: STACK CFI INIT: rules are missing"},
	{"STACK CFI INIT 1000 .cfa: $rsp", `1:21: STACK CFI INIT: size ".cfa:": want hexadecimal digits`},
	{"Hello, world", `1:1: unknown record "Hello,"`},
	{"func 1000 10 0 f", `1:1: unknown record "func"`},
	{"\x00\x01\x02" + strings.Repeat("\x7f", 100), `1:1: unknown record "\x00\x01\x02` + strings.Repeat(`\x7f`, 37) + `"...`},
}

func TestReaderBadRecords(t *testing.T) {
	for _, tt := range badRecords {
		text := tt.text + "\nFILE 1 good\n"
		_, err := readAll(NewReader(strings.NewReader(text), ReadOptions{File: "a.sym"}))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || err.Error() != "a.sym:"+tt.want {
			t.Errorf("%q: error %v, want a.sym:%s", tt.text, err, tt.want)
		}
		r := NewReader(strings.NewReader(text), ReadOptions{Tolerant: true})
		got, err := readAll(r)
		if err != nil || len(got) == 0 || got[len(got)-1] != `2:1 FILE 1 "good"` {
			t.Errorf("%q, tolerant: %q, %v: want the FILE behind it", tt.text, got, err)
		}
		problems := r.Report().Problems
		if len(problems) != 1 || problems[0].Err.Error() != tt.want {
			t.Errorf("%q, tolerant: problems %v, want %s", tt.text, problems, tt.want)
		}
		empty := strings.HasSuffix(tt.want, "name is empty") || strings.Contains(tt.want, "12Z4")
		if usable := len(got) == 2; usable != empty || usable != (problems[0].Lost == "") {
			t.Errorf("%q, tolerant: %q, lost %q: only a record without a name is usable", tt.text, got, problems[0].Lost)
		}
	}
}

func TestReaderStaysAtItsError(t *testing.T) {
	r := NewReader(strings.NewReader("FOO\nFILE 1 a\n"), ReadOptions{})
	_, first := r.Next()
	_, second := r.Next()
	if first == nil || first != second {
		t.Errorf("errors %v and %v, want the same twice", first, second)
	}
}

func TestFieldPositions(t *testing.T) {
	text := "\xef\xbb\xbfMODULE Linux x86 12 a\r\n\n  INLINE  0 10 3 40 d30 2a\nc184 7 59 4\nSTACK CFI INIT 10 20 .cfa: $rsp\n"
	want := [][]string{
		{"1:1 MODULE", "1:8 Linux", "1:14 x86", "1:18 12", "1:21 a", "1:22 "},
		{"3:3 INLINE", "3:11 0", "3:13 10", "3:16 3", "3:18 40", "3:21 d30", "3:25 2a", "3:27 "},
		{"4:1 c184", "4:6 7", "4:8 59", "4:11 4", "4:12 "},
		{"5:1 STACK", "5:7 CFI", "5:11 INIT", "5:16 10", "5:19 20", "5:22 .cfa:", "5:28 $rsp", "5:32 "},
	}
	r := NewReader(strings.NewReader(text), ReadOptions{File: "a.sym"})
	for _, fields := range want {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range fields {
			if got := fmt.Sprintf("%v %s", rec.FieldPos(i), rec.Field(i)); got != want {
				t.Errorf("field %d of %q is %q, want %q", i, rec.Text(), got, want)
			}
		}
		if rec.Kind == KindInline {
			err := rec.errorf(4, "origin %d is not declared", rec.Inline.Origin)
			if want := "a.sym:3:18: INLINE: origin 40 is not declared"; err.Error() != want {
				t.Errorf("error %q, want %q", err, want)
			}
		}
	}
}

// TestReaderAnySplit reads a text in pieces of every kind: no record may depend
// on where the buffer ends.
func TestReaderAnySplit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	var text strings.Builder
	text.WriteString("MODULE Linux x86 12 a\n")
	for i := range 40_000 {
		fmt.Fprintf(&text, "FUNC %x 10 0 f%s\n%x 1 %d %d\r\n\n", i*16, strings.Repeat("x", i%50), i*16, i, i%7)
	}
	fmt.Fprintf(&text, "FUNC 1 1 0 %s\nfff 1 2 3\n", strings.Repeat("long", 200_000))
	want, err := readAll(NewReader(strings.NewReader(text.String()), ReadOptions{}))
	if err != nil || len(want) != 80_003 {
		t.Fatalf("%d records, error %v", len(want), err)
	}
	readers := map[string]io.Reader{
		"one byte":               iotest.OneByteReader(strings.NewReader(text.String()[:200_000])),
		"half":                   iotest.HalfReader(strings.NewReader(text.String())),
		"data and error at once": iotest.DataErrReader(strings.NewReader(text.String())),
		"prime pieces":           &pieces{text: text.String(), n: 4099},
	}
	for name, in := range readers {
		t.Run(name, func(t *testing.T) {
			r := NewReader(in, ReadOptions{})
			for i := 0; ; i++ {
				rec, err := r.Next()
				if err == io.EOF {
					if name != "one byte" && i != len(want) {
						t.Errorf("%d records, want %d", i, len(want))
					}
					break
				}
				if err != nil {
					if name == "one byte" {
						break // cut in the middle
					}
					t.Fatal(err)
				}
				if got := rec.Pos().String() + " " + describe(rec); got != want[i] && r.eof == false {
					t.Fatalf("record %d is %.100q, want %.100q", i, got, want[i])
				}
			}
			if report := r.Report(); name == "half" && (report.Bytes != int64(text.Len()) || report.Lines != 120_003) {
				t.Errorf("%d bytes in %d lines, want %d in 120003", report.Bytes, report.Lines, text.Len())
			}
		})
	}
}

// pieces reads n bytes at a time, with empty reads between.
type pieces struct {
	text  string
	n     int
	empty bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.empty = !p.empty; p.empty {
		return 0, nil
	}
	n := copy(b, p.text[:min(p.n, len(p.text))])
	p.text = p.text[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// repeated yields text over and over, n bytes in all.
type repeated struct {
	text string
	n    int64
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(int64(len(p)), r.n)], r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	r.n -= int64(n)
	return n, nil
}

func TestReaderLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	long := func(head string, n int64) io.Reader {
		return io.MultiReader(strings.NewReader("FILE 0 a\n"+head), &repeated{text: strings.Repeat("y", 64<<10), n: n},
			strings.NewReader("\nFILE 2 after\n"))
	}
	t.Run("longest", func(t *testing.T) {
		got, err := readAll(NewReader(long("FILE 1 ", MaxLine-7), ReadOptions{}))
		if err != nil || len(got) != 3 {
			t.Errorf("%d records, error %v", len(got), err)
		}
	})
	t.Run("one more", func(t *testing.T) {
		_, err := readAll(NewReader(long("FILE 1 ", MaxLine-6), ReadOptions{File: "a.sym"}))
		if want := "a.sym:2:16777217: FILE: line is over 16777216 bytes long"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
	t.Run("gigabyte", func(t *testing.T) {
		r := NewReader(long("FUNC 1 1 0 ", 1<<30), ReadOptions{Tolerant: true})
		got, err := readAll(r)
		if err != nil || len(got) != 2 || got[1] != `3:1 FILE 2 "after"` {
			t.Errorf("got %q, error %v", got, err)
		}
		if p := r.Report().Problems; len(p) != 1 || p[0].Lost != "FUNC" {
			t.Errorf("problems %v, want one that lost a FUNC", p)
		}
		if len(r.buf) > 4*MaxLine {
			t.Errorf("buffer of %d bytes for a line that is not kept", len(r.buf))
		}
	})
	t.Run("gigabyte without end", func(t *testing.T) {
		r := NewReader(&repeated{text: strings.Repeat("x", 4096), n: 64 << 20}, ReadOptions{Tolerant: true})
		if got, err := readAll(r); err != nil || len(got) != 0 || len(r.Report().Problems) != 1 {
			t.Errorf("got %q, error %v, report %v", got, err, r.Report())
		}
	})
}

func TestReaderProblemsAreBounded(t *testing.T) {
	text := strings.Repeat("nonsense\n", 5000)
	r := NewReader(strings.NewReader(text), ReadOptions{Tolerant: true})
	if _, err := readAll(r); err != nil {
		t.Fatal(err)
	}
	if got := r.Report(); len(got.Problems) != defaultMaxProblems || got.Dropped != 5000-defaultMaxProblems {
		t.Errorf("%d problems, %d dropped", len(got.Problems), got.Dropped)
	}
	r = NewReader(strings.NewReader(text), ReadOptions{Tolerant: true, MaxProblems: 2})
	readAll(r)
	if got := r.Report(); len(got.Problems) != 2 || got.Dropped != 4998 {
		t.Errorf("%d problems, %d dropped, want 2 and 4998", len(got.Problems), got.Dropped)
	}
}

// TestReaderAllocatesNothing pins that records are read in reused storage.
func TestReaderAllocatesNothing(t *testing.T) {
	text := bytes.Repeat([]byte("FUNC 10 10 0 f\nINLINE 0 1 2 3 4 5 6 7\n10 1 2 3\r\nSTACK CFI 1 .cfa: 2\nFILE 1 a\n"), 1000)
	r := NewReader(bytes.NewReader(text), ReadOptions{})
	for range 10 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(4900, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record, want none", n)
	}
}
