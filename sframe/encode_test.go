package sframe

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/damage"
)

var (
	amd64RA = Rule{Memory, CFA, -8}
	entry   = Row{CFA: Rule{Value, 7, 8}, RA: amd64RA} // an AMD64 function's first row
)

func at(start uint32, r Row) Row {
	r.Start = start
	return r
}

func mustEncode(t testing.TB, funcs []Func, target Target) ([]byte, []damage.Problem) {
	t.Helper()
	data, problems, err := Encode(funcs, target)
	if err != nil {
		t.Fatal(err)
	}
	return data, problems
}

// decodeClean decodes what Encode wrote. Nothing in it may be damaged.
func decodeClean(t testing.TB, data []byte, addr uint64) (*Section, []Func) {
	t.Helper()
	s, err := Decode(data, Options{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	funcs, problems := s.Funcs()
	for _, p := range append(problems, s.Problems...) {
		t.Error(p)
	}
	return s, funcs
}

// The expected bytes of two functions are written by hand from the
// specifications.
func TestEncodeBytes(t *testing.T) {
	saved := Row{Start: 1, CFA: Rule{Value, 6, 16}, RA: amd64RA, FP: Rule{Memory, CFA, -16}}
	funcs := []Func{
		{Start: 0x2000, Size: 0x20, Rows: []Row{entry, saved}},
		{Start: 0x1000, Size: 0x30, Block: 16, Rows: []Row{entry}},
	}
	for _, tt := range []struct {
		version uint8
		want    string
	}{
		{2, "e2de 02 05 03 00 f8 00  02000000 03000000 0a000000 00000000 28000000" +
			"e4efffff 30000000 00000000 01000000 10 10 0000" + // 0x1000 - 0x201c
			"d0ffffff 20000000 03000000 02000000 00 00 0000" + // 0x2000 - 0x2030
			"00 03 08" + "00 03 08  01 04 10f0"},
		{3, "e2de 03 05 03 00 f8 00  02000000 03000000 14000000 00000000 20000000" +
			"e4efffffffffffff 30000000 00000000" +
			"d4ffffffffffffff 20000000 08000000" +
			"0100 10 00 10  00 03 08" + "0200 00 00 00  00 03 08  01 04 10f0"},
	} {
		want, err := hex.DecodeString(strings.ReplaceAll(tt.want, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, problems := mustEncode(t, funcs, Target{Version: tt.version, ABI: AMD64, Addr: 0x2000})
		if !bytes.Equal(got, want) || problems != nil {
			t.Errorf("version %d:\n%x, %v; want\n%x", tt.version, got, problems, want)
		}
	}
}

// The expected data words of one row are written by hand: each form at the
// limits of its sizes.
func TestEncodeRow(t *testing.T) {
	saved := func(reg Reg, cfa int64, ra, fp Rule) Row { return Row{CFA: Rule{Value, reg, cfa}, RA: ra, FP: fp} }
	mem := func(offset int64) Rule { return Rule{Memory, CFA, offset} }
	same := Rule{}
	for _, tt := range []struct {
		name   string
		abi    ABI
		row    Row
		v2, v3 string // info and words; "" if there is no encoding; v3 of a FLEX row begins with F
	}{
		{"1 byte", AMD64, saved(7, 127, amd64RA, same), "03 7f", "03 7f"},
		{"2 bytes", AMD64, saved(7, 128, amd64RA, same), "23 8000", "23 8000"},
		{"2 bytes for FP", AMD64, saved(6, 16, amd64RA, mem(-129)), "24 1000 7fff", "24 1000 7fff"},
		{"4 bytes", AMD64, saved(7, 32768, amd64RA, same), "43 00800000", "43 00800000"},
		{"most", AMD64, saved(7, math.MaxInt32, amd64RA, same), "43 ffffff7f", "43 ffffff7f"},
		{"too far", AMD64, saved(7, math.MaxInt32+1, amd64RA, same), "", ""},
		{"least", AMD64, saved(7, math.MinInt32, amd64RA, same), "43 00000080", "43 00000080"},
		{"outermost", AMD64, Row{CFA: Rule{Value, 7, 8}, RA: Rule{Kind: Undefined}, FP: mem(-16)}, "00", "00"},
		{"FP undefined", AMD64, saved(7, 8, amd64RA, Rule{Kind: Undefined}), "", ""},
		{"no RA", AMD64, saved(7, 8, same, same), "", ""},
		{"no CFA", AMD64, Row{RA: amd64RA}, "", ""},
		{"CFA from CFA", AMD64, Row{CFA: Rule{Value, CFA, 8}, RA: amd64RA}, "", ""},
		{"CFA from r10", AMD64, saved(10, 0, amd64RA, same), "", "F 04 51 00"},
		{"CFA from r31", AMD64, saved(31, 0, amd64RA, same), "", "F 04 f9 00"},
		{"CFA from r32", AMD64, saved(32, 0, amd64RA, same), "", "F 24 0101 0000"},
		{"CFA from r8192", AMD64, saved(8192, 0, amd64RA, same), "", "F 44 01000100 00000000"},
		{"CFA in memory", AMD64, Row{CFA: Rule{Memory, 6, -8}, RA: amd64RA, FP: Rule{Memory, 6, 0}}, "", "F 0a 33 f8 00 33 00"},
		{"FP at CFA", AMD64, saved(7, 8, amd64RA, mem(0)), "", "F 0a 39 08 00 02 00"},
		{"RA elsewhere", AMD64, saved(7, 8, mem(-16), same), "", "F 08 39 08 02 f0"},
		{"RA and FP", AMD64, saved(7, 8, Rule{Value, 2, 0}, mem(-300)), "", "F 2c 3900 0800 1100 0000 0200 d4fe"},
		{"FP is CFA", AMD64, saved(7, 8, amd64RA, Rule{Value, CFA, -16}), "", ""},
		{"register too high", AMD64, saved(1<<29, 0, amd64RA, same), "", ""},

		{"leaf", AArch64LE, saved(31, 0, same, same), "03 00", "03 00"},
		{"signed leaf", AArch64LE, Row{CFA: Rule{Value, 31, 0}, Signed: true}, "83 00", "83 00"},
		{"RA", AArch64LE, saved(31, 16, mem(-8), same), "05 10 f8", "05 10 f8"},
		{"frame record", AArch64LE, saved(29, 32, mem(-24), mem(-32)), "06 20 e8 e0", "06 20 e8 e0"},
		{"big endian", AArch64BE, saved(29, 512, mem(-504), mem(-512)), "26 0200 fe08 fe00", "26 0200 fe08 fe00"},
		{"FP alone", AArch64LE, saved(31, 16, same, mem(-16)), "", "F 0a f9 10 00 02 f0"},

		{"entry", S390X, saved(15, 160, same, same), "03 00", "03 00"},
		{"scaled", S390X, saved(11, 160+8*127, mem(-48), mem(-72)), "06 7f d0 b8", "06 7f d0 b8"},
		{"not scaled", S390X, saved(15, 164, same, same), "", ""},
		{"padding", S390X, saved(15, 160, same, mem(-72)), "07 00 00 b8", "07 00 00 b8"},
		{"registers", S390X, saved(15, 160, Rule{Value, 16, 0}, Rule{Value, 17, 0}), "07 00 21 23", "F 0c 79 00 81 00 89 00"},
		{"register and offset", S390X, saved(15, 160, Rule{Value, 16, 8}, same), "", "F 08 79 00 81 08"},
		{"odd slot", S390X, saved(15, 160, mem(-47), same), "", "05 00 d1"},
	} {
		for version, want := range map[uint8]string{2: tt.v2, 3: tt.v3} {
			t.Run(fmt.Sprintf("%s %s V%d", tt.abi, tt.name, version), func(t *testing.T) {
				data, problems := mustEncode(t, []Func{{Start: 64, Size: 4, Rows: []Row{tt.row}}}, Target{Version: version, ABI: tt.abi})
				if want == "" {
					if len(problems) != 1 || problems[0].Lost != "function at 0x40" || len(data) != headerSize {
						t.Errorf("%v and %x, want the function lost", problems, data)
					}
					return
				}
				s, _ := decodeClean(t, data, 0)
				got := strings.ReplaceAll(fmt.Sprintf("%x", data[s.RowsOffset(0)+1:]), " ", "")
				if s.FDEs[0].Flex {
					got = "F" + got
				}
				if got != strings.ReplaceAll(want, " ", "") || problems != nil {
					t.Errorf("%s, %v; want %s", got, problems, want)
				}
			})
		}
	}
}

// What a section cannot represent is reported, and the rest is written.
func TestEncodeLosses(t *testing.T) {
	rows := []Row{entry}
	good := Func{Start: 0x40, Size: 8, Rows: rows}
	many := make([]Row, math.MaxUint16+1)
	for i := range many {
		many[i] = Row{Start: uint32(i), CFA: Rule{Value, 7, int64(8 + i%2*8)}, RA: amd64RA}
	}
	r10 := Row{Start: 4, CFA: Rule{Value, 10, 0}, RA: amd64RA}
	for _, tt := range []struct {
		name     string
		f        Func
		v2, v3   string // the problem; "" for none
		wantRows int
	}{
		{"size 0", Func{Start: 0x80, Rows: rows}, "its size is 0 (lost: function at 0x80)", "=", 0},
		{"no rows", Func{Start: 0x80, Size: 8}, "it has no rows (lost: function at 0x80)", "=", 0},
		{"row at the end", Func{Start: 0x80, Size: 8, Rows: []Row{entry, at(8, r10)}}, "", "", 1},
		{"row behind the end", Func{Start: 0x80, Size: 8, Rows: []Row{entry, at(9, r10)}},
			"row at +0x9 outside of 8 bytes (lost: rows of the function at 0x80)", "=", 1},
		{"row behind the block", Func{Start: 0x80, Size: 32, Block: 16, Rows: []Row{entry, at(17, r10)}},
			"row at +0x11 outside of 16 bytes (lost: rows of the function at 0x80)", "=", 1},
		{"all rows at the end", Func{Start: 0x80, Size: 8, Rows: []Row{at(8, entry)}}, "it has no rows (lost: function at 0x80)", "=", 0},
		{"descending", Func{Start: 0x80, Size: 8, Rows: []Row{at(4, entry), at(3, r10)}},
			"row at +0x3 after one at +0x4 (lost: function at 0x80)", "=", 0},
		{"the same twice", Func{Start: 0x80, Size: 8, Rows: []Row{entry, at(4, entry)}}, "", "", 1},
		{"two at one place", Func{Start: 0x80, Size: 8, Rows: []Row{entry, r10, at(4, entry)}}, "", "", 1},
		{"FLEX", Func{Start: 0x80, Size: 8, Rows: []Row{entry, r10}},
			"row at +0x4: version 2 has no form for CFA: r10+0 (lost: function at 0x80)", "", 2},
		{"many rows", Func{Start: 0x80, Size: 1 << 17, Rows: many}, "", "65536 rows, want at most 65535 (lost: function at 0x80)", math.MaxUint16 + 1},
		{"far", Func{Start: 1 << 40, Size: 8, Rows: rows},
			"1099511627728 bytes from the section at 0x0: want a distance of 32 bits in version 2 (lost: function at 0x10000000000)", "", 1},
		{"block", Func{Start: 0x80, Size: 512, Block: 256, Rows: rows},
			"it repeats blocks of 256 bytes, want 1 to 255 (lost: function at 0x80)", "=", 0},
		{"signal frame", Func{Start: 0x80, Size: 8, Signal: true, Rows: rows},
			"version 2 has no mark for it (lost: signal frame of the function at 0x80)", "", 1},
		{"signal frame without rows", Func{Start: 0x80, Size: 8, Signal: true}, "it has no rows (lost: function at 0x80)", "", 0},
		{"key B", Func{Start: 0x80, Size: 8, KeyB: true, Rows: rows},
			"SFRAME_ABI_AMD64_ENDIAN_LITTLE signs no return addresses (lost: key B of the function at 0x80)", "=", 1},
		{"twice", Func{Start: 0x40, Size: 8, Rows: rows}, "", "", 0},
		{"same start", Func{Start: 0x40, Size: 4, Rows: rows}, "another function, of 8 bytes, starts there (lost: function at 0x40)", "=", 0},
		{"same start and size", Func{Start: 0x40, Size: 8, Rows: []Row{{RA: Rule{Kind: Undefined}}}},
			"another function, of 8 bytes, starts there (lost: function at 0x40)", "=", 0},
	} {
		for version, want := range map[uint8]string{2: tt.v2, 3: tt.v3} {
			t.Run(fmt.Sprintf("%s V%d", tt.name, version), func(t *testing.T) {
				if want == "=" {
					want = tt.v2
				}
				data, problems := mustEncode(t, []Func{good, tt.f}, Target{Version: version, ABI: AMD64})
				got := ""
				if len(problems) > 0 {
					got = problems[0].String()
				}
				if got != want || len(problems) > 1 {
					t.Errorf("%q, want %q", problems, want)
				}
				_, funcs := decodeClean(t, data, 0)
				if len(funcs) == 0 || !equivalent(good, funcs[0]) {
					t.Fatalf("%+v, want %+v first", funcs, good)
				}
				wantFuncs := 2
				if strings.Contains(want, "(lost: function") || tt.f.Start == good.Start {
					wantFuncs = 1
				}
				if len(funcs) != wantFuncs {
					t.Fatalf("%d functions, want %d", len(funcs), wantFuncs)
				}
				if len(funcs) == 2 && len(funcs[1].Rows) != tt.wantRows {
					t.Errorf("%d rows, want %d", len(funcs[1].Rows), tt.wantRows)
				}
			})
		}
	}
}

// Offsets in a section have 32 bits. As no test has that many bytes, the
// limit is lowered.
func TestEncodeLimits(t *testing.T) {
	f := func(start uint64) Func {
		return Func{Start: start, Size: 8, Rows: []Row{entry, at(4, Row{CFA: Rule{Value, 7, 16}, RA: amd64RA})}}
	}
	for _, tt := range []struct {
		limit uint64
		want  string
	}{
		{47, "more than 2 functions (lost: function at 0x30)"},
		{48, ""},
		{32, "more than 2 functions (lost: function at 0x30)"},
	} {
		e := newEncoder(Target{Version: 3, ABI: AMD64}, &v3)
		e.limit = tt.limit
		e.addAll([]Func{f(0x10), f(0x20), f(0x30)})
		if got := problemText(e.problems); got != tt.want {
			t.Errorf("limit %d: %q, want %q", tt.limit, got, tt.want)
		}
		decodeClean(t, e.section(), 0)
	}
	// The rows of a large function are lost; a small one's after it fit.
	large := f(0x10)
	for i := range 50 {
		large.Rows = append(large.Rows, Row{Start: uint32(5), CFA: Rule{Value, 7, int64(i)}, RA: amd64RA})
		large.Size++
		large.Rows[len(large.Rows)-1].Start += uint32(i)
	}
	e := newEncoder(Target{Version: 2, ABI: AMD64}, &v2)
	e.limit = 100
	e.addAll([]Func{large, f(0x100)})
	_, funcs := decodeClean(t, e.section(), 0)
	if got := problemText(e.problems); got != "more than 100 bytes of rows (lost: function at 0x10)" || len(funcs) != 1 || !equivalent(f(0x100), funcs[0]) {
		t.Errorf("%q, %+v", got, funcs)
	}
}

func problemText(problems []damage.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.String())
	}
	return strings.Join(all, "\n")
}

func TestEncodeTargets(t *testing.T) {
	for _, tt := range []struct {
		t    Target
		want string
	}{
		{Target{Version: 0, ABI: AMD64}, "cannot write version 0, want 2 or 3"},
		{Target{Version: 1, ABI: AMD64}, "cannot write version 1, want 2 or 3"},
		{Target{Version: 4, ABI: AMD64}, "cannot write version 4, want 2 or 3"},
		{Target{Version: 3}, "ABI 0, want 1 to 4"},
		{Target{Version: 3, ABI: 5}, "ABI 5, want 1 to 4"},
	} {
		if data, _, err := Encode(nil, tt.t); err == nil || err.Error() != tt.want || data != nil {
			t.Errorf("%+v: %v, want %s", tt.t, err, tt.want)
		}
	}
	for abi := AArch64BE; abi <= S390X; abi++ {
		data, problems := mustEncode(t, nil, Target{Version: 3, ABI: abi})
		if s, _ := decodeClean(t, data, 0); len(data) != headerSize || problems != nil || s.Headers[0].FixedRA != abi.FixedRA() {
			t.Errorf("%s without functions: %x, %v", abi, data, problems)
		}
	}
}

// Consecutive headers are merged into one; they must have the same ABI.
func TestConvert(t *testing.T) {
	section := func(abi ABI, start uint64, row Row) []byte {
		data, _ := mustEncode(t, []Func{{Start: start, Size: 8, Rows: []Row{row}}}, Target{Version: 3, ABI: abi})
		return append(data, make([]byte, -len(data)&7)...)
	}
	leaf := Row{CFA: Rule{Value, 31, 0}}
	for _, tt := range []struct {
		name      string
		data      []byte
		err       string
		functions int
	}{
		{"one", section(AMD64, 0x1000, entry), "", 1},
		{"two", append(section(AMD64, 0x2000, entry), section(AMD64, 0x1000, entry)...), "", 2},
		{"two ABIs", append(section(AMD64, 0x1000, entry), section(AArch64LE, 0x1000, leaf)...),
			".sframe: headers of SFRAME_ABI_AMD64_ENDIAN_LITTLE and SFRAME_ABI_AARCH64_ENDIAN_LITTLE", 0},
		{"empty", nil, ".sframe is empty", 0},
	} {
		s, err := Decode(tt.data, Options{})
		if err != nil {
			t.Fatal(tt.name, err)
		}
		for _, version := range []uint8{2, 3} {
			data, problems, err := s.Convert(version)
			if errText(err) != tt.err || problems != nil {
				t.Errorf("%s: %v, %v; want %s", tt.name, err, problems, tt.err)
			}
			if err != nil {
				continue
			}
			back, funcs := decodeClean(t, data, 0)
			if len(back.Headers) != 1 || len(funcs) != tt.functions || back.Headers[0].Version != version {
				t.Errorf("%s: %d headers, %d functions", tt.name, len(back.Headers), len(funcs))
			}
			for i := range s.FDEs {
				_, was, _ := s.Find(s.FDEs[i].Start)
				if _, is, err := back.Find(s.FDEs[i].Start); err != nil || is != was {
					t.Errorf("%s: %+v, %v; want %+v", tt.name, is, err, was)
				}
			}
		}
	}
}
