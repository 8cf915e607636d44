package callframe_test

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// Here the unwind codes of Windows are executed a second time, one by one, as llvm-readobj --unwind prints them: what a
// function has saved at each byte of its prologue must be what STACK CFI says there.

// pdataForeign is an entry of .pdata.
type pdataForeign struct {
	lo, hi uint64
	info   string // address of its codes on x64
	parent string // address of the codes to which it is chained
	codes  []pdataCode
	scopes []pdataScope

	decoded bool // not padding
}

// pdataCode is a code of x64 or an instruction of arm64.
type pdataCode struct {
	off  uint64
	text string
}

// pdataScope is an epilogue of arm64, which may be at the end of the function.
type pdataScope struct {
	start uint64
	atEnd bool
	codes []pdataCode
}

var (
	pdataField = regexp.MustCompile(`^(\w+): (.*)$`)
	pdataHex   = regexp.MustCompile(`0x([0-9A-Fa-f]+)\)?$`)
	pdataX64   = regexp.MustCompile(`^0x([0-9A-F]{2}): (.*)$`)
	pdataARM64 = regexp.MustCompile(`^0x[0-9a-f]+ +; (.*)$`)
)

// pdataReadobj reads the output of llvm-readobj --unwind.
func pdataReadobj(t *testing.T, text string) (all []*pdataForeign) {
	t.Helper()
	var e *pdataForeign
	var list *[]pdataCode // being read
	chained := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		m := pdataField.FindStringSubmatch(line)
		switch {
		case line == "RuntimeFunction {":
			e, list, chained = &pdataForeign{}, nil, false
			all = append(all, e)
		case e == nil:
		case line == "]":
			list = nil
		case line == "UnwindInfo {", line == "ExceptionData {":
			e.decoded = true
		case line == "Chained {":
			chained = true
		case line == "UnwindCodes [", line == "Prologue [":
			list = &e.codes
		case line == "Epilogue [", line == "Opcodes [":
			list = &e.scopes[len(e.scopes)-1].codes
		case list != nil:
			*list = append(*list, pdataCodeOf(line))
		case m == nil:
		case m[1] == "UnwindInfoAddress" && chained:
			e.parent = m[2]
		case chained:
		case m[1] == "UnwindInfoAddress":
			e.info = m[2]
		case m[1] == "StartAddress", m[1] == "Function":
			e.lo = cfitest.Hex(pdataHex.FindStringSubmatch(m[2])[1])
		case m[1] == "EndAddress":
			e.hi = cfitest.Hex(pdataHex.FindStringSubmatch(m[2])[1])
		case m[1] == "FrameSize": // of packed codes
			e.decoded = true
		case m[1] == "FunctionLength":
			e.hi = e.lo + uint64(cfitest.Atoi(m[2]))
		case m[1] == "EpilogueOffset":
			e.scopes = append(e.scopes, pdataScope{atEnd: true})
		case m[1] == "StartOffset":
			e.scopes = append(e.scopes, pdataScope{start: e.lo + 4*uint64(cfitest.Atoi(m[2]))})
		}
	}
	return slices.DeleteFunc(all, func(e *pdataForeign) bool { return !e.decoded })
}

func pdataCodeOf(line string) pdataCode {
	if m := pdataX64.FindStringSubmatch(line); m != nil {
		return pdataCode{cfitest.Hex(m[1]), m[2]}
	}
	if m := pdataARM64.FindStringSubmatch(line); m != nil {
		line = m[1]
	}
	return pdataCode{text: line}
}

// pdataState is the effect of the codes executed so far: the CFA is off bytes above base, and depth above the stack
// pointer.
type pdataState struct {
	base       string
	off, depth int64
	ra         string
	saved      map[string]int64 // offsets from the CFA
	unknown    bool             // the caller's registers are in a record of the system
}

func (s *pdataState) forms() cfitest.Forms {
	forms := cfitest.Forms{".cfa": fmt.Sprintf("%s%+d", s.base, s.off), ".ra": s.ra}
	for reg, at := range s.saved {
		forms[reg] = fmt.Sprintf("[CFA%+d]", at)
	}
	return forms
}

// grow lowers the stack pointer.
func (s *pdataState) grow(sp string, n int64) {
	s.depth += n
	if s.base == sp {
		s.off = s.depth
	}
}

var pdataOperand = regexp.MustCompile(`(reg|size|offset|errcode)=([^,]+)`)

// x64 executes a code. base is the depth that the offsets of saved registers refer to.
func (s *pdataState) x64(t *testing.T, c pdataCode, base int64) {
	t.Helper()
	op, _, _ := strings.Cut(c.text, " ")
	operand := map[string]string{}
	for _, m := range pdataOperand.FindAllStringSubmatch(c.text, -1) {
		operand[m[1]] = m[2]
	}
	reg := "$" + strings.ToLower(operand["reg"])
	switch op {
	case "PUSH_NONVOL":
		s.grow("$rsp", 8)
		s.saved[reg] = -s.depth
	case "ALLOC_SMALL", "ALLOC_LARGE":
		s.grow("$rsp", cfitest.Atoi(operand["size"]))
	case "SET_FPREG":
		s.base, s.off = reg, s.depth-cfitest.Atoi(operand["offset"])
	case "SAVE_NONVOL", "SAVE_NONVOL_FAR":
		s.saved[reg] = cfitest.Atoi(operand["offset"]) - base
	case "PUSH_MACHFRAME":
		size := int64(40)
		if operand["errcode"] == "yes" {
			size = 48
		}
		*s = pdataState{base: "$rsp", off: size, depth: size, ra: "[CFA-40]", saved: map[string]int64{"$rsp": -16}}
	case "SAVE_XMM128", "SAVE_XMM128_FAR":
	default:
		t.Fatalf("unknown code %q", c.text)
	}
}

// pdataRow is what applies at an address.
type pdataRow struct {
	at    uint64
	forms cfitest.Forms
}

// rowsX64 returns the row at each byte of an entry's prologue, and at the first byte after it. It returns nil for an
// endless chain. byInfo maps the addresses of codes to their entries.
func (e *pdataForeign) rowsX64(t *testing.T, byInfo map[string]*pdataForeign) (rows []pdataRow) {
	t.Helper()
	chain := []*pdataForeign{e}
	for p := e.parent; p != ""; p = chain[0].parent {
		if byInfo[p] == nil || len(chain) == 32 {
			return nil
		}
		chain = slices.Insert(chain, 0, byInfo[p])
	}
	var codes []pdataCode // in the order of execution
	for _, part := range chain {
		for _, c := range slices.Backward(part.codes) {
			if part != e {
				c.off = 0
			}
			if !strings.HasPrefix(c.text, "EPILOG") {
				codes = append(codes, c)
			}
		}
	}
	// Offsets are from the stack pointer after the prologue, or where the frame register was set.
	before := slices.IndexFunc(codes, func(c pdataCode) bool { return strings.HasPrefix(c.text, "SET_FPREG") })
	if before < 0 {
		before = len(codes)
	}
	base := pdataRun(t, codes[:before], 0, 255).depth
	last := uint64(0)
	for _, c := range codes {
		last = max(last, c.off)
	}
	for off := uint64(0); off <= last && e.lo+off < e.hi; off++ {
		s := pdataRun(t, codes, base, off)
		rows = append(rows, pdataRow{e.lo + off, s.forms()})
	}
	return rows
}

// pdataRun executes the x64 codes up to an offset.
func pdataRun(t *testing.T, codes []pdataCode, base int64, limit uint64) pdataState {
	t.Helper()
	s := pdataState{base: "$rsp", off: 8, depth: 8, ra: "[CFA-8]", saved: map[string]int64{}}
	for _, c := range codes {
		if c.off <= limit {
			s.x64(t, c, base)
		}
	}
	return s
}

var (
	pdataStore = regexp.MustCompile(`^(?:st|ld)[rp] (\w+)(?:, (\w+))?, \[sp(?:, #(-?\d+))?\](!|, #\d+)?$`)
	pdataAlloc = regexp.MustCompile(`^(?:sub|add) sp, (?:sp, )?#(\d+)$`)
	pdataAddFP = regexp.MustCompile(`^(?:add fp, sp|sub sp, fp), #(\d+)$`)
	pdataGPR   = regexp.MustCompile(`^x(19|2[0-9])$`)
)

// arm64 executes the first of codes after the others, which precede it in the prologue.
func (s *pdataState) arm64(t *testing.T, codes []pdataCode) {
	t.Helper()
	text := codes[0].text
	if m := pdataAlloc.FindStringSubmatch(text); m != nil {
		s.grow("sp", cfitest.Atoi(m[1]))
		return
	}
	if m := pdataAddFP.FindStringSubmatch(text); m != nil {
		s.base, s.off = "x29", s.depth-cfitest.Atoi(m[1])
		return
	}
	if m := pdataStore.FindStringSubmatch(text); m != nil {
		at := cfitest.Atoi(m[3])
		if m[4] != "" { // [sp, #-16]! or, in an epilogue, [sp], #16
			s.grow("sp", max(-at, cfitest.Atoi(strings.TrimPrefix(m[4], ", #"))))
			at = 0
		}
		s.store(m[1], at)
		s.store(m[2], at+8)
		return
	}
	switch text {
	case "mov x29, sp", "mov fp, sp", "mov sp, fp":
		s.base, s.off = "x29", s.depth
	case "save next", "restore next":
		s.next(codes[1:])
	case "trap frame", "machine frame", "context":
		s.unknown = true
	case "nop", "pacibsp", "autibsp", "clear unwound to call":
	default:
		t.Fatalf("unknown instruction %q", text)
	}
}

// next stores the pair after the one in the preceding codes.
func (s *pdataState) next(before []pdataCode) {
	n := int64(1)
	for ; len(before) > 0 && strings.HasSuffix(before[0].text, " next"); before = before[1:] {
		n++
	}
	m := pdataStore.FindStringSubmatch(before[0].text)
	if m[4] != "" {
		m[3] = "0"
	}
	first := cfitest.Atoi(m[1][1:]) + 2*n
	s.store(fmt.Sprintf("%c%d", m[1][0], first), cfitest.Atoi(m[3])+16*n)
	s.store(fmt.Sprintf("%c%d", m[1][0], first+1), cfitest.Atoi(m[3])+16*n+8)
}

func (s *pdataState) store(reg string, at int64) {
	switch {
	case reg == "lr", reg == "x30":
		s.ra = fmt.Sprintf("[CFA%+d]", at-s.depth)
	case pdataGPR.MatchString(reg):
		s.saved[reg] = at - s.depth
	}
}

// rowsARM64 returns what applies at each instruction of an entry's prologue and epilogues, and after them.
func (e *pdataForeign) rowsARM64(t *testing.T) (rows []pdataRow) {
	t.Helper()
	instructions := func(codes []pdataCode) []pdataCode {
		return slices.DeleteFunc(slices.Clone(codes), func(c pdataCode) bool { return c.text == "end" })
	}
	run := func(codes []pdataCode) (pdataState, bool) {
		s := pdataState{base: "sp", ra: "x30", saved: map[string]int64{}}
		for i := len(codes) - 1; i >= 0; i-- {
			s.arm64(t, codes[i:])
		}
		return s, !s.unknown
	}
	prologue := instructions(e.codes)
	add := func(at uint64, codes []pdataCode) bool {
		s, known := run(codes)
		if known && at < e.hi {
			rows = append(rows, pdataRow{at, s.forms()})
		}
		return known
	}
	if _, known := run(prologue); !known {
		return nil
	}
	for i := range len(prologue) + 1 {
		add(e.lo+4*uint64(i), prologue[len(prologue)-i:])
	}
	for _, scope := range e.scopes {
		codes := instructions(scope.codes)
		if scope.codes == nil { // those of the prologue
			codes = prologue
		}
		if scope.atEnd {
			scope.start = e.hi - 4*uint64(len(codes)+1)
		}
		for i := 1; i <= len(codes); i++ {
			add(scope.start+4*uint64(i), codes[i:])
		}
	}
	return rows
}

// pdataAgainst compares the rules of a file with llvm-readobj's output. It returns how many entries and addresses it
// compared.
func pdataAgainst(t *testing.T, path, text string) (entries, addresses int) {
	t.Helper()
	all := pdataReadobj(t, text)
	if len(all) == 0 {
		return 0, 0
	}
	in, _ := cfitest.Open(t, path)
	in.Sections = nil // .eh_frame and .debug_frame
	table, _, _ := cfitest.Read(in)
	ours := cfitest.Flatten(&table, in.Base)
	slices.SortFunc(ours, func(a, b cfitest.Row) int { return cmp.Compare(a.Addr, b.Addr) })
	byInfo := map[string]*pdataForeign{}
	for _, e := range all {
		byInfo[e.info] = e
	}
	wrong := 0
	for _, e := range all {
		var rows []pdataRow
		if in.Arch == arch.ARM64 {
			rows = e.rowsARM64(t)
		} else {
			rows = e.rowsX64(t, byInfo)
		}
		if rows != nil {
			entries++
		}
		for _, r := range rows {
			if pdataInner(all, e, r.at) {
				continue
			}
			addresses++
			got := pdataFormsAt(ours, r.at)
			if maps.Equal(got, r.forms) || r.at == e.lo && got[".cfa"] == "$rsp+8" && pdataReturns(in, r.at) {
				continue // the entry begins at the end of an epilogue, which its codes do not show
			}
			if pdataInstructions[fmt.Sprintf("%s %#x", filepath.Base(path), r.at)] != "" {
				continue
			}
			if wrong++; wrong <= 5 {
				t.Errorf("%s: %#x of %#x: got %v, want %v", filepath.Base(path), r.at, e.lo, got, r.forms)
			}
		}
	}
	if wrong > 5 {
		t.Errorf("%s: %d differences in all", filepath.Base(path), wrong)
	}
	return entries, addresses
}

// pdataInstructions lists addresses where an entry has no codes, and the instructions determine the frame.
var pdataInstructions = map[string]string{
	"arm64-test.exe 0x14000103c": "__security_pop_cookie frees what its caller has of __security_push_cookie",
	"arm64-test.exe 0x140001040": "the same",
}

// pdataReturns reports whether the instruction at an address of x64 is a return.
func pdataReturns(in *unwind.Input, at uint64) bool {
	s, ok := in.Tables(at)
	return ok && in.Arch == arch.X86_64 && s.Data[at-s.Addr]&0xfe == 0xc2
}

// pdataFormsAt returns the rules at an address, without unchanged registers.
func pdataFormsAt(ours []cfitest.Row, at uint64) cfitest.Forms {
	i := sort.Search(len(ours), func(i int) bool { return ours[i].End > at })
	if i == len(ours) || ours[i].Addr > at {
		return nil
	}
	forms := maps.Clone(ours[i].Forms)
	maps.DeleteFunc(forms, func(_, form string) bool { return form == "same" })
	return forms
}

// pdataInner reports whether an address is in an entry inside e.
func pdataInner(all []*pdataForeign, e *pdataForeign, at uint64) bool {
	return slices.ContainsFunc(all, func(o *pdataForeign) bool {
		return o.lo <= at && at < o.hi && o.lo >= e.lo && o.hi <= e.hi && (o.lo > e.lo || o.hi < e.hi)
	})
}

// The test compares all entries of .pdata in the shared PE files, as llvm-readobj 22 printed them.
func TestPdataReadobj(t *testing.T) {
	testenv.Shared(t, "data", "pe")
	entries, addresses := 0, 0
	for _, oracle := range testenv.SharedGlob(t, "data", "pe", "*", "*", "oracle", "*.readobj.txt.gz") {
		text := testenv.Gunzip(t, oracle)
		if !bytes.Contains(text, []byte("RuntimeFunction {")) {
			continue
		}
		path := filepath.Join(filepath.Dir(filepath.Dir(oracle)), strings.TrimSuffix(filepath.Base(oracle), ".readobj.txt.gz"))
		n, rows := pdataAgainst(t, path, string(text))
		t.Logf("%s: %d entries, %d addresses", filepath.Base(path), n, rows)
		entries, addresses = entries+n, addresses+rows
	}
	if entries < 4500 || addresses < 30000 {
		t.Errorf("%d entries, %d addresses", entries, addresses)
	}
}

// The same for the PE files in this repository, with the program.
func TestOraclePdataReadobj(t *testing.T) {
	testenv.Oracle(t)
	for _, name := range []string{"pe-unwind64.exe", "pe-unwind64v2.exe", "pe-unwindarm64.exe", "pe-arm64ec.exe", "pe-mingw64.dll"} {
		path := testenv.Input(t, name)
		out, err := exec.Command(testenv.Tool(t, "llvm-readobj-22"), "--unwind", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		entries, addresses := pdataAgainst(t, path, string(out))
		t.Logf("%s: %d entries, %d addresses", name, entries, addresses)
		if entries < 3 {
			t.Errorf("%s: %d entries", name, entries)
		}
	}
}
