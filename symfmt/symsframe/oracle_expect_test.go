package symsframe

import (
	elfobj "github.com/symtool/symtool/internal/object/elfobj"

	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
)

// The tools whose output is in the shared data, by file name suffix.
const (
	objdump240 = "objdump-2.40"
	objdump244 = "objdump-2.44"
	objdump247 = "objdump-2.47"
	readobj24  = "llvm-readobj-24"
)

// expectation is a text and the section that it describes.
type expectation struct {
	tool, name string
	text       string
	*listing
	image   []byte // the file's
	file    *object.File
	section *sframe.Section // nil if there is none
}

// difference is a difference between a tool's text and the section.
type difference struct {
	*expectation
	fde  int    // -1: of the header
	row  int    // -1: of the function
	what string // the field
	ours string
	text string // the tool's
}

func (d *difference) String() string {
	return fmt.Sprintf("%s, %s, function %d, row %d: %s is %s, the tool says %s", d.name, d.tool, d.fde, d.row, d.what, d.ours, d.text)
}

// expectRule explains differences. A rule that explains none is outdated.
type expectRule struct {
	name  string
	why   string
	holds func(d *difference) bool
}

// Values of difference.what that rules refer to.
const (
	ofMessage = "message"
	ofSection = "section"
	ofPC      = "pc"
	ofRA      = "RA"
	ofLine    = "line" // of Print's output
)

func (d *difference) header() *sframe.Header { return &d.section.Headers[0] }

func (d *difference) complains(part string) bool { return strings.Contains(d.message, part) }

// decoded reports whether there is a header.
func (d *difference) decoded() bool { return d.section != nil && len(d.section.Headers) > 0 }

// silent reports whether the difference is that the tool shows nothing of the
// section.
func (d *difference) silent() bool { return d.what == ofMessage || d.what == ofSection }

func (d *difference) ofObject() bool { return d.file.Kind == object.Relocatable }

func (d *difference) pcs() (ours, text uint64) { return number(d.ours[2:], 16), number(d.text[2:], 16) }

// field returns the offset of the function's start field in the section.
func (d *difference) field() uint64 { return d.section.Offset(d.fde) }

// afterAssertion reports whether the tool ended in a failed assertion of its own
// at this function.
func (d *difference) afterAssertion() bool {
	return d.complains("Assertion `") && (d.fde < 0 && (d.what == ofMessage || d.what == "functions") || d.fde == len(d.funcs)-1 && d.what == "rows")
}

var expectRules = []expectRule{
	{"none", "there is no section, and the tool says so", func(d *difference) bool {
		return d.section == nil && d.what == ofMessage && (d.complains("No .sframe section present") || d.complains("could not find section '.sframe'"))
	}},
	{"not recognized", "2.40 and 2.44 refuse files with sections of the type SHT_GNU_SFRAME, which came with 2.45", func(d *difference) bool {
		s := d.file.Section(".sframe")
		return d.silent() && (d.tool == objdump240 || d.tool == objdump244) && (d.complains("file format not recognized") || d.complains("file in wrong format")) &&
			s != nil && elfobj.Of(d.file).Header(".sframe").Type == 0x6ffffff4
	}},
	{"empty", "a section of 0 bytes, which ld 2.47 leaves when it could merge nothing, is an error to the tools", func(d *difference) bool {
		return d.what == ofMessage && d.section != nil && !d.decoded() && (d.complains("Corrupt SFrame") || d.complains("unexpected end of data at offset 0x0"))
	}},
	{"version 1 in 2.47", "libsframe 2.46 and later no longer read version 1", func(d *difference) bool {
		return d.silent() && d.tool == objdump247 && d.decoded() && d.header().Version == 1 && d.complains("Buffer does not contain SFrame data")
	}},
	{"version 1 in 2.44", "objdump 2.41 to 2.45 shows the header of version 1 and nothing else", func(d *difference) bool {
		return d.tool == objdump244 && d.decoded() && d.header().Version == 1 && d.complains("SFrame version not supported") && d.fde < 0
	}},
	{"first header", "the tools read one header; lld, and ld 2.44 what LLVM made, put sections one after another", func(d *difference) bool {
		return d.what == "headers" && d.text == "1"
	}},
	{"RA in 2.40", "2.40 shows the return address that the header places as u", func(d *difference) bool {
		return d.tool == objdump240 && d.what == ofRA && d.header().FixedRA == -8 && d.text == fmt.Sprint(sframe.Rule{})
	}},
	{"fixed RA in 2.40", "2.40 does not show the field", func(d *difference) bool {
		return d.tool == objdump240 && d.what == "CFA fixed RA offset" && d.ours == "-8" && d.text == ""
	}},
	{"object in 2.40 and 2.44", "they show the start field of an object without its relocation: 0", func(d *difference) bool {
		return d.what == ofPC && d.ofObject() && (d.tool == objdump240 || d.tool == objdump244) && d.text == "0x0"
	}},
	{"object in 2.47", "without the flag PCREL 2.47 shows S+A-P of the relocation in place of S+A", func(d *difference) bool {
		if d.what != ofPC || !d.ofObject() || d.tool != objdump247 || d.header().Flags&sframe.PCRelative != 0 {
			return false
		}
		ours, text := d.pcs()
		return text == uint64(int64(int32(ours-d.field())))
	}},
	{"copied by lld", "lld copies sections of as 2.44, whose starts count from their fields although the flag is not set", func(d *difference) bool {
		if d.what != ofPC || d.ofObject() || !d.header().FieldRelative {
			return false
		}
		ours, text := d.pcs()
		return text == ours-d.field()
	}},
	{"row at the end", "libsframe aborts at a row that starts at its function's end or behind it", (*difference).afterAssertion},
	{"ld -r loses relocations", "ld -r 2.40 and 2.44 merges sections and leaves the relocations where they were: starts without one", func(d *difference) bool {
		return d.what == ofPC && d.ofObject() && d.header().Flags&sframe.Sorted != 0 && !d.relocated(d.field(), d.field()+4)
	}},
	{"ld -r hits rows", "the relocations that ld -r 2.40 and 2.44 leaves where they were change rows", func(d *difference) bool {
		return d.fde >= 0 && d.what != ofPC && d.ofObject() && d.header().Flags&sframe.Sorted != 0 && d.relocated(d.rowBytes())
	}},
}

// relocated reports whether relocations change bytes of the section.
func (d *difference) relocated(lo, hi uint64) bool {
	s := elfobj.Of(d.file).Header(".sframe")
	data, err := s.Data()
	return err == nil && !bytes.Equal(data[lo:hi], d.image[s.Offset:][lo:hi])
}

// rowBytes returns where the function's rows are in the section.
func (d *difference) rowBytes() (lo, hi uint64) {
	lo, hi = d.section.RowsOffset(d.fde), uint64(d.file.Section(".sframe").Size())
	for i := range d.section.FDEs {
		if next := d.section.RowsOffset(i); next > lo {
			hi = min(hi, next)
		}
	}
	return lo, hi
}

// ruleSet counts how often each rule is used.
type ruleSet struct {
	rules []expectRule
	used  map[string]int
}

// explain applies the rules, and reports a difference that none of them explains.
func (s *ruleSet) explain(t *testing.T, d *difference) {
	t.Helper()
	for _, r := range s.rules {
		if r.holds(d) {
			s.used[r.name]++
			return
		}
	}
	t.Error(d)
}

// finish reports the rules.
func (s *ruleSet) finish(t *testing.T) {
	t.Helper()
	for _, r := range s.rules {
		if s.used[r.name] == 0 {
			t.Errorf("rule %q explains nothing any more", r.name)
		}
		t.Logf("%5d differences by rule %q: %s", s.used[r.name], r.name, r.why)
	}
}

// TestExpectedTexts compares what each tool printed for each file with what
// Open decodes: header, every function, every row.
func TestExpectedTexts(t *testing.T) {
	rules := &ruleSet{expectRules, map[string]int{}}
	for _, tool := range []string{objdump240, objdump244, objdump247, readobj24} {
		var texts, funcs, rows int
		for _, path := range expectedTexts(t, tool) {
			e := newExpectation(t, path, tool)
			texts++
			funcs += len(e.funcs)
			rows += e.compare(func(d difference) { rules.explain(t, &d) })
		}
		t.Logf("%s: %d texts, %d functions, %d rows", tool, texts, funcs, rows)
	}
	rules.finish(t)
}

func expectedTexts(t *testing.T, tool string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "expect"), "*."+tool+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no texts of %s", tool)
	}
	return paths
}

func newExpectation(t *testing.T, path, tool string) *expectation {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(path), "."+tool+".txt")
	e := &expectation{tool: tool, name: name, text: string(text)}
	e.parse(t)
	e.open(t, testenv.Shared(t, "data", "sframe", "elf", name))
	return e
}

func (e *expectation) parse(t *testing.T) {
	t.Helper()
	parse := parseObjdump
	if e.tool == readobj24 {
		parse = parseReadobj
	}
	var err error
	if e.listing, err = parse(e.text); err != nil {
		t.Fatalf("%s, %s: %v", e.name, e.tool, err)
	}
}

func (e *expectation) open(t *testing.T, path string) {
	t.Helper()
	file, err := elfobj.Open(path, object.DefaultLimits())
	f := file.Object()
	if err != nil {
		t.Fatal(err)
	}
	if e.image, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	e.file = f
	e.section, err = Open(f)
	if err != nil && !errors.Is(err, ErrNone) {
		t.Fatal(err)
	}
	if e.section != nil && len(e.section.Problems) > 0 {
		t.Errorf("%s: %v", e.name, e.section.Problems)
	}
}

// compare reports the differences, and returns the number of rows compared.
func (e *expectation) compare(report func(difference)) (rows int) {
	differ := func(fde, row int, what string, ours, text any) {
		if o, t := fmt.Sprint(ours), fmt.Sprint(text); o != t {
			report(difference{e, fde, row, what, o, t})
		}
	}
	differ(-1, -1, ofMessage, "", strings.TrimSpace(e.message))
	if len(e.header) == 0 || e.section == nil || len(e.section.Headers) == 0 {
		differ(-1, -1, ofSection, e.section != nil && len(e.section.Headers) > 0, len(e.header) > 0)
		return 0
	}
	differ(-1, -1, "headers", len(e.section.Headers), 1)
	h := &e.section.Headers[0]
	if e.tool == readobj24 {
		e.compareReadobjHeader(h, differ)
	} else {
		e.compareHeader(h, differ)
	}
	differ(-1, -1, "functions", h.Count, len(e.funcs))
	for i := range min(h.Count, len(e.funcs)) {
		rows += e.compareFunc(i, differ)
	}
	return rows
}

type differ = func(fde, row int, what string, ours, text any)

func (e *expectation) compareHeader(h *sframe.Header, differ differ) {
	ours := map[string]string{
		"Version": fmt.Sprintf("SFRAME_VERSION_%d", h.Version), "Num FDEs": fmt.Sprint(h.NumFDEs), "Num FREs": fmt.Sprint(h.NumFREs),
	}
	if h.FixedFP != 0 {
		ours["CFA fixed FP offset"] = fmt.Sprint(h.FixedFP)
	}
	if h.FixedRA != 0 {
		ours["CFA fixed RA offset"] = fmt.Sprint(h.FixedRA)
	}
	for _, key := range []string{"Version", "Num FDEs", "Num FREs", "CFA fixed FP offset", "CFA fixed RA offset"} {
		differ(-1, -1, key, ours[key], e.header[key])
		delete(e.header, key)
	}
	differ(-1, -1, "flags", h.Flags.Names(), e.flags)
	differ(-1, -1, "other fields", "map[]", e.header)
}

func (e *expectation) compareReadobjHeader(h *sframe.Header, differ differ) {
	abi := map[sframe.ABI]string{sframe.AMD64: "AMD64EndianLittle", sframe.AArch64LE: "AArch64EndianLittle", sframe.AArch64BE: "AArch64EndianBig"}[h.ABI]
	unused := " (unused)"
	ra := "CFA fixed RA offset"
	if h.FixedRA == 0 {
		ra += unused
	}
	for _, f := range [][2]string{
		{"Version", fmt.Sprintf("V%d (0x%[1]x)", h.Version)}, {"ABI", fmt.Sprintf("%s (0x%x)", abi, uint8(h.ABI))},
		{"CFA fixed FP offset" + unused, fmt.Sprint(h.FixedFP)}, {ra, fmt.Sprint(h.FixedRA)},
		{"Auxiliary header length", fmt.Sprint(len(h.Aux))}, {"Num FDEs", fmt.Sprint(h.NumFDEs)}, {"Num FREs", fmt.Sprint(h.NumFREs)},
		{"FRE subsection length", fmt.Sprint(h.FRELen)}, {"FDE subsection offset", fmt.Sprint(h.FDEOff)}, {"FRE subsection offset", fmt.Sprint(h.FREOff)},
	} {
		differ(-1, -1, f[0], f[1], e.header[f[0]])
	}
	var flags []string
	for _, name := range h.Flags.Names() {
		flags = append(flags, map[string]string{
			"SFRAME_F_FDE_SORTED": "FDESorted", "SFRAME_F_FDE_FUNC_START_PCREL": "FDEFuncStartPCRel",
		}[name])
	}
	differ(-1, -1, "flags", flags, e.flags)
}

// shownPC returns the address of a function as tools show it: in objects it counts
// from the start of the function's section, which has no address in the file.
func (e *expectation) shownPC(pc uint64) uint64 {
	if e.file.Kind != object.Relocatable {
		return pc
	}
	for _, s := range e.file.Sections {
		if s.Exec && s.Holds(pc) {
			return pc - s.Addr
		}
	}
	return pc
}

func (e *expectation) compareFunc(i int, differ differ) (rows int) {
	f, want := &e.section.FDEs[i], &e.funcs[i]
	differ(i, -1, ofPC, hexadecimal(e.shownPC(f.Start)), hexadecimal(want.pc))
	differ(i, -1, "size", f.Size, want.size)
	differ(i, -1, "mask", f.Mask, want.mask)
	differ(i, -1, "key B", f.KeyB, want.keyB)
	if e.tool == readobj24 {
		e.compareReadobjFunc(i, differ)
	} else {
		attr := ""
		if f.Signal {
			attr += "S"
		}
		if f.Flex {
			attr += "F"
		}
		differ(i, -1, "attr", attr, want.attr)
	}
	ours := e.section.Rows(i)
	for ours.Next() {
		if rows < len(want.rows) {
			e.compareRow(i, rows, &ours, differ)
		}
		rows++
	}
	differ(i, -1, "damage", error(nil), ours.Err())
	differ(i, -1, "rows", rows, len(want.rows))
	return min(rows, len(want.rows))
}

func (e *expectation) compareReadobjFunc(i int, differ differ) {
	f, h := &e.section.FDEs[i], e.section.Header(i)
	rep := "Repetitive block size (unused)"
	if f.Mask {
		rep = "Repetitive block size"
	}
	for _, field := range []struct {
		key  string
		ours uint64
	}{
		{"Start FRE Offset", e.section.RowsOffset(i) - h.Offset - 28 - uint64(len(h.Aux)) - uint64(h.FREOff)},
		{"Num FREs", uint64(f.NumRows)}, {"Raw", uint64(f.Info)}, {rep, uint64(f.Rep)},
	} {
		text, err := strconv.ParseUint(e.funcs[i].raw[field.key], 0, 64)
		if err != nil {
			differ(i, -1, field.key, field.ours, e.funcs[i].raw[field.key])
		}
		differ(i, -1, field.key, field.ours, text)
	}
}

// compareRow compares the current row. Starts are compared as offsets, so that
// one address that differs is one difference.
func (e *expectation) compareRow(i, k int, ours *sframe.Rows, differ differ) {
	f, want := &e.funcs[i], &e.funcs[i].rows[k]
	start := want.start
	if !f.mask {
		start -= f.pc
	}
	differ(i, k, "start", ours.Row.Start, start)
	differ(i, k, "undefined RA", ours.Row.Outermost(), want.undefined)
	if want.undefined || ours.Row.Outermost() {
		return
	}
	abi := e.section.Header(i).ABI
	differ(i, k, "signed", ours.Row.Signed, want.signed)
	differ(i, k, "CFA", ours.Row.CFA, rule(want.cfa, abi))
	differ(i, k, "FP", ours.Row.FP, e.slot(want.fp, abi, sframe.Rule{}))
	fixed := sframe.Rule{}
	if h := e.section.Header(i); h.FixedRA != 0 {
		fixed = sframe.Rule{Kind: sframe.Memory, Reg: sframe.CFA, Offset: int64(h.FixedRA)}
	}
	differ(i, k, ofRA, ours.Row.RA, e.slot(want.ra, abi, fixed))
	if e.tool != readobj24 {
		differ(i, k, "RA's padding", ours.Form.RA == sframe.Padding, want.ra == "U")
	}
}

// slot reads the rule of FP or RA; fixed is what the header gives.
func (e *expectation) slot(text string, abi sframe.ABI, fixed sframe.Rule) sframe.Rule {
	switch text {
	case "", "u":
		return sframe.Rule{}
	case "f", "U":
		return fixed
	}
	return rule(text, abi)
}

func hexadecimal(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
