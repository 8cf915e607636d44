package callframe_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe"
	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/symsframe"
)

// sframeRule gives the reason why the .sframe of some files differs from their .eh_frame in some
// functions, or lacks them. A rule that explains nothing fails the test.
type sframeRule struct {
	files string // glob
	funcs string // separated by blanks; sections for code without a symbol; * for all
	lacks bool   // .sframe has no such function; otherwise its rows differ
	why   string
}

var sframeRules = []sframeRule{
	{"*-v[12]-reloc.o", "*", false, "ld -r of 2.40 and 2.44 leaves FDEs that refer to rows of others"},
	{"*-v[12]-reloc.o", "*", true, "ld -r of 2.40 and 2.44 writes starts that are no functions"},
	{"amd64-v?-pltgot*.so", ".plt.got", false, "ld takes the CFA at the jump of .plt.got for rsp+16; it is rsp+8 (2.44 and 2.47)"},
	{"amd64-v1-*.so", ".plt", false, "ld 2.40 puts the change in entries of an IBT PLT 2 bytes too late"},
	{"amd64-v1-*.so", ".plt.sec usegot", false, "ld 2.40 gives .plt.sec the rows of .plt's first entry, and misplaces the FDE of its own"},
	{"amd64-v1-pltgot-ibt.so", ".plt.got", true, "ld 2.40 has no FDE for it beside an IBT PLT"},
	{"amd64-v[12]-exe*", "_start _dl_relocate_static_pie", true, "the C library's start files have no .sframe"},
	{"amd64-v3-exe*", "_start _dl_relocate_static_pie", true, "the C library's start files have no .sframe"},
	{"amd64-mixed-*", "*", true, "the linker leaves out sections of another version"},
	{"amd64-v2llvm-in-v3ld", "*", true, "ld 2.47 cannot merge version 2"},
	{"aarch64*-v2llvm-*.o", "*", true, "LLVM refuses every function of AArch64"},
	{"amd64-v[12]*drap.o", "realign_vla", true, "no rows before version 3: the CFA is in memory"},
	{"amd64-v1-sig.o", ".text", true, "no rows before version 3: the CFA is in memory, or based on r10"},
	{"amd64-v1-sig.o", ".text", false, "as before 2.45 passes over an undefined return address"},
	{"amd64-v[12]*-unrep.o", "cfa_rcx cfa_reg_r10 rbp_in_rax ra_in_r11 val_off_rbp esc_cfa_expr_rbp_deref esc_cfa_expr_other esc_expr_rbx esc_expr_rbp esc_args_size_sp esc_args_size_fp retcol sigframe_unrep", true, "no rows before version 3: dropped by the assembler"},
	{"amd64-v1-unrep.o", "cfa_rcx cfa_reg_r10", false, "as 2.40 passes over a CFA that is not based on rsp or rbp"},
	{"amd64-v[12]*-unrep.o", "ra_in_r11 ra_undefined rbp_undefined ra_other_offset same_value_rbp", false, "as before 2.45 and LLVM pass over these instructions"},
	{"amd64-v2llvm-unrep.o", "rbp_in_rax val_off_rbp", false, "LLVM passes over these instructions"},
	{"amd64-v[12]-unrep.o", "remember_one remember_nested", false, "as before 2.45 remembers the last row, and one state only"},
	{"amd64-v[12]*-unrep.o", "simple_startproc", false, "DWARF has no rule for the return address; SFrame's is in the header"},
	{"aarch64-v1-unrep.o", "fp_only", false, "as 2.40 writes a frame pointer that is saved alone as a return address"},
	{"aarch64-v1-unrep.o", "cfa_x9 undef_ra same_ra", false, "as 2.40 passes over these instructions"},
	{"aarch64-v1-unrep.o", "ra_in_x17 fp_in_x9 retcol esc sve_vg valoff", true, "no rows: dropped by the assembler"},
	{"s390x-v3-unrep.o", "cfa_unaligned offs", false, "as cuts CFA offsets to multiples of 8"},
}

// sframeFile is a file with .sframe and .eh_frame.
type sframeFile struct {
	*object.File
	section *sframe.Section
	cfi     *symfmt.CFITable
	cpu     *arch.Arch
}

// readCFI reads .eh_frame and .debug_frame.
func readCFI(f *object.File) *symfmt.CFITable {
	c := callframe.Read(context.Background(), f.Arch, []object.Companion{{File: f}}, callframe.Sources{DWARF: true})
	return &c.Table
}

// openSFrameFile opens a file. It returns nil if the file lacks either section.
func openSFrameFile(t *testing.T, path string) *sframeFile {
	f := symtest.Open(t, path)
	section, err := symsframe.Open(f)
	if err != nil {
		return nil
	}
	c := readCFI(f)
	if len(c.Blocks) == 0 {
		return nil
	}
	return &sframeFile{f, section, c, f.Arch}
}

// openSFrameFiles opens all shared files that have both.
func openSFrameFiles(t *testing.T) (all []*sframeFile) {
	paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "elf"), "*"))
	if err != nil || len(paths) < 50 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		if f := openSFrameFile(t, path); f != nil {
			all = append(all, f)
		}
	}
	return all
}

func (f *sframeFile) options() symsframe.ToOptions {
	return symsframe.ToOptions{Base: f.Base, Code: f.Executable}
}

// name returns the function at an address, or the section.
func (f *sframeFile) name(rva symfmt.RVA) (name string) {
	addr := uint64(rva) + f.Base
	for _, s := range f.Sections {
		if s.Exec && s.Holds(addr) {
			name = s.Name
		}
	}
	_ = f.Symbols(object.Symtab, func(s *object.Symbol) {
		if s.Addr <= addr && addr < s.Addr+max(s.Size, 1) && s.Kind == object.Function {
			name = string(s.Name)
		}
	})
	return name
}

// explainer finds the rules that apply to a file.
type explainer struct {
	t     *testing.T
	rules []sframeRule
	used  map[int]int
}

func newExplainer(t *testing.T, rules []sframeRule) explainer {
	return explainer{t, rules, map[int]int{}}
}

// finish fails the test for rules that explain nothing.
func (e *explainer) finish() {
	for i, r := range e.rules {
		if e.used[i] == 0 {
			e.t.Errorf("rule %q for %s explains nothing", r.why, r.files)
		}
	}
}

func (e *explainer) explained(file, fn string, lacks bool) bool {
	for i, r := range e.rules {
		ok, err := filepath.Match(r.files, file)
		if err != nil {
			e.t.Fatal(err)
		}
		if ok && r.lacks == lacks && (r.funcs == "*" || slices.Contains(strings.Fields(r.funcs), fn)) {
			e.used[i]++
			return true
		}
	}
	return false
}

// The rows that assemblers and linkers wrote agree with .eh_frame at every address, except where
// a rule says why not.
func TestSFrameAgainstEHFrame(t *testing.T) {
	e := newExplainer(t, sframeRules)
	var equal, different, files, funcs uint64
	for _, f := range openSFrameFiles(t) {
		c := symsframe.Compare(f.section, f.cfi, f.cpu, f.options())
		file := filepath.Base(f.Path)
		for _, d := range c.Differences {
			if name := f.name(d.RVA); !e.explained(file, name, false) {
				t.Errorf("%s: %s, %#x: %d bytes: %s in .sframe, %s in .eh_frame", file, name, d.RVA, d.Size, d.SFrame, d.CFI)
			}
		}
		lacking := uint64(0)
		for _, r := range c.FuncsOnlyCFI {
			lacking += r.Size
			if name := f.name(r.RVA); !e.explained(file, name, true) {
				t.Errorf("%s: %s, %#x: only in .eh_frame", file, name, r.RVA)
			}
		}
		if c.OnlySFrame > 0 || c.OnlyCFI != lacking && !strings.HasSuffix(file, "-reloc.o") {
			t.Errorf("%s: %d bytes only in .sframe, %d of %d parts of functions", file, c.OnlySFrame, c.OnlyCFI-lacking, c.OnlyCFI)
		}
		equal, different, files, funcs = equal+c.Equal, different+c.Different, files+1, funcs+uint64(c.SFrame.Funcs)
	}
	e.finish()
	t.Logf("%d files, %d functions, %d bytes equal, %d different and explained", files, funcs, equal, different)
}

// The table agrees with Section.Find at each address, by value: with made-up registers and
// memory, both give the same caller.
func TestSFrameTableAgainstFind(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	addresses := 0
	for _, f := range openSFrameFiles(t) {
		var table symfmt.CFITable
		_, problems := symsframe.AppendCFI(&table, f.section, f.options())
		for _, p := range problems {
			if !strings.HasSuffix(f.Path, "-reloc.o") { // see sframeRules
				t.Errorf("%s: %v", f.Path, p)
			}
		}
		want := map[uint64]string{}
		for i := range f.section.FDEs {
			d := &f.section.FDEs[i]
			if d.Start < f.Base || !f.Executable(d.Start) {
				continue
			}
			for pc := d.Start; d.Contains(pc); pc++ {
				if _, row, err := f.section.Find(pc); err == nil {
					want[pc] = callerBySFrame(f.section.Header(i).ABI, &row)
				}
			}
		}
		got := callersByTable(t, &table, f.Base, f.cpu)
		for pc, s := range want {
			if got[pc] != s {
				t.Errorf("%s: %#x: %q from the table, %q from the row", f.Path, pc, got[pc], s)
				break
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d addresses in the table, %d in the section", f.Path, len(got), len(want))
		}
		addresses += len(want)
	}
	t.Logf("%d addresses", addresses)
}

// hashMemory contains a different word at each address.
type hashMemory struct{}

func (hashMemory) ReadWord(addr uint64) (uint64, bool) { return (addr + 1) * 0x9e3779b97f4a7c15, true }

// register returns the value of a register of the callee.
func register(r sframe.Reg) uint64 { return 0x7f00000000 + uint64(r)*0x100000 }

const outermostCaller = "outermost"

func callerBySFrame(abi sframe.ABI, row *sframe.Row) string {
	if row.Outermost() {
		return outermostCaller
	}
	value := func(r sframe.Rule, same sframe.Reg, cfa uint64) uint64 {
		base := cfa
		switch {
		case r.Kind == sframe.Same:
			return register(same)
		case r.Reg != sframe.CFA:
			base = register(r.Reg)
		}
		v := base + uint64(r.Offset)
		if r.Kind == sframe.Memory {
			v, _ = hashMemory{}.ReadWord(v)
		}
		return v
	}
	cfa := value(row.CFA, 0, 0)
	return fmt.Sprintf("pc %#x sp %#x fp %#x", value(row.RA, abi.RA(), cfa), abi.CallerSP(cfa), value(row.FP, abi.FP(), cfa))
}

// callersByTable evaluates the rules at each address that has any.
func callersByTable(t *testing.T, table *symfmt.CFITable, base uint64, cpu *arch.Arch) map[uint64]string {
	names := cfi.NewNames(cpu)
	callee, caller := names.NewRegs(), names.NewRegs()
	for _, r := range cpu.Regs {
		if r.DWARF != arch.NoDWARF {
			callee.Set(names.Lookup(r.Name), register(sframe.Reg(r.DWARF)))
		}
	}
	out := map[uint64]string{}
	for _, b := range table.Blocks {
		var row cfi.Row
		lo := b.RVA
		emit := func(hi symfmt.RVA) {
			s := outermostCaller
			if !row.RA.EndsStack() {
				if err := row.Caller(callee, hashMemory{}, caller); err != nil {
					t.Fatal(err)
				}
				get := func(name string) uint64 { v, _ := caller.Get(names.Lookup(name)); return v }
				s = fmt.Sprintf("pc %#x sp %#x fp %#x", get(cpu.PC), get(cpu.SP), get(cpu.FP))
			}
			for ; lo < hi; lo++ {
				out[base+uint64(lo)] = s
			}
		}
		apply := func(id symfmt.RuleID) {
			rules, err := table.Rules.Rules(id)
			if err != nil {
				t.Fatal(err)
			}
			row.Apply(names.Translate(rules))
		}
		apply(b.Init)
		for _, r := range table.Rows[b.First : b.First+b.Count] {
			emit(r.RVA)
			apply(r.Rules)
		}
		emit(b.RVA + symfmt.RVA(b.Size))
	}
	return out
}

// The table agrees with readelf's output for the same file's .eh_frame, which does not depend on
// our reader: CFA, return address and frame pointer at each of its rows. Where readelf has an
// expression, any rule is accepted.
func TestSFrameAgainstReadelf(t *testing.T) {
	e := newExplainer(t, sframeRules)
	rows, expressions := 0, 0
	for _, f := range openSFrameFiles(t) {
		file := filepath.Base(f.Path)
		text, err := os.ReadFile(testenv.Shared(t, "data", "sframe", "expect", file+".frames-interp.txt"))
		if err != nil {
			t.Fatal(err)
		}
		base := f.Base
		if f.Kind == object.Relocatable {
			if len(f.ExecRanges()) > 1 || f.Section(".text").Addr+f.Section(".text").FileSize != f.ExecRanges()[0].End {
				continue // readelf prints no addresses if there are several sections
			}
			base = f.Section(".text").Addr
		}
		var table symfmt.CFITable
		symsframe.AppendCFI(&table, f.section, symsframe.ToOptions{Base: base, Code: f.Executable})
		ours := cfitest.Flatten(&table, 0)
		if f.Kind != object.Relocatable {
			ours = cfitest.Flatten(&table, base)
		}
		for _, fde := range cfitest.ReadelfText(f.cpu, strings.Split(string(text), "\n"), ".eh_frame") {
			for _, r := range fde.Rows {
				i := slices.IndexFunc(ours, func(o cfitest.Row) bool { return o.Addr <= r.Addr && r.Addr < o.End })
				name := f.name(symfmt.RVA(r.Addr - f.Base))
				if f.Kind == object.Relocatable {
					name = f.name(symfmt.RVA(r.Addr))
				}
				switch {
				case r.Addr >= fde.Hi:
				case i < 0:
					if !e.explained(file, name, true) && !e.explained(file, name, false) {
						t.Errorf("%s: %#x: no row", file, r.Addr)
					}
				default:
					rows++
					for _, reg := range []string{".cfa", ".ra", f.cpu.FP} {
						want, got := readelfForm(r.Forms[reg], reg, f.cpu), readelfForm(ours[i].Forms[reg], reg, f.cpu)
						if want == "expr" {
							expressions++
						} else if want != got && (ours[i].Forms[".ra"] != "undefined" || reg == ".ra") && !e.explained(file, name, false) {
							t.Errorf("%s: %#x: %s is %q, %q in readelf's text", file, r.Addr, reg, got, want)
						}
					}
				}
			}
		}
	}
	t.Logf("%d rows, %d expressions in them", rows, expressions)
	if rows < 1000 {
		t.Error("too few")
	}
}

// readelfForm maps the forms that readelf prints as "u" to one.
func readelfForm(form, reg string, cpu *arch.Arch) string {
	if form == "?" || form == "same" || form == "" || form == "undefined" || reg == ".ra" && form == cpu.RA {
		return "u"
	}
	return form
}

// roundTrip makes SFrame from a file's .eh_frame, reads it again, and compares. Functions
// without rows must be reported.
func roundTrip(t *testing.T, path string, version uint8) {
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := readCFI(f)
	cpu := f.Arch
	abi, ok := symsframe.ABIOf(cpu, binary.ByteOrder(f.Order))
	if !ok {
		t.Fatal("no ABI")
	}
	funcs, lost := symsframe.FromCFI(c, abi, f.Base)
	target := sframe.Target{Version: version, ABI: abi, Addr: f.Base}
	data, more, err := sframe.Encode(funcs, target)
	if err != nil {
		t.Fatal(err)
	}
	section, err := sframe.Decode(data, sframe.Options{Addr: target.Addr})
	if err != nil || section.Problems != nil {
		t.Fatal(err, section.Problems)
	}
	m := symsframe.Compare(section, c, cpu, symsframe.ToOptions{Base: f.Base})
	for _, d := range m.Differences {
		t.Errorf("%#x: %s in .sframe, %s in .eh_frame", d.RVA, d.SFrame, d.CFI)
	}
	reported := map[string]bool{}
	reasons := map[string]int{}
	for _, p := range append(lost, more...) {
		reported[p.Lost] = true
		_, why, _ := strings.Cut(p.Err.Error(), ": ")
		why, _, _ = strings.Cut(why, ":")
		reasons[why]++
	}
	for _, r := range m.FuncsOnlyCFI {
		if !reported[fmt.Sprintf("function at %#x", f.Base+uint64(r.RVA))] {
			t.Errorf("%#x: lost without a word", r.RVA)
		}
	}
	if m.OnlySFrame > 0 {
		t.Errorf("%d bytes only in .sframe", m.OnlySFrame)
	}
	checkMarks(t, section, c, f.Base)
	t.Logf("%s V%d: %d of %d functions (%.3f %%), %d rows, %d bytes of code equal; .sframe %d bytes; lost: %v", filepath.Base(path), version,
		m.SFrame.Funcs, m.CFI.Funcs, 100*float64(m.SFrame.Funcs)/float64(m.CFI.Funcs), m.SFrame.Rows, m.Equal, section.Size(), reasons)
}

// checkMarks checks what the text cannot represent: signal frames and signed return addresses.
func checkMarks(t *testing.T, s *sframe.Section, c *symfmt.CFITable, base uint64) {
	marks := symtest.Marked(c)
	in := func(mark symfmt.CFIMarks, pc uint64) bool {
		return slices.ContainsFunc(marks[mark], func(r symfmt.Range) bool { return pc-base-uint64(r.RVA) < r.Size })
	}
	for i := range s.FDEs {
		d := &s.FDEs[i]
		if got := in(symfmt.MarkSignal, d.Start); s.Header(i).Version >= 3 && got != d.Signal {
			t.Errorf("%#x: signal frame: %v", d.Start, d.Signal)
		}
		if got := in(symfmt.MarkKeyB, d.Start); got != d.KeyB {
			t.Errorf("%#x: key B: %v", d.Start, d.KeyB)
		}
		if len(marks[symfmt.MarkSigned]) == 0 {
			continue
		}
		for pc := d.Start; d.Contains(pc); pc += 4 {
			if _, row, err := s.Find(pc); err == nil && !row.Outermost() && row.Signed != in(symfmt.MarkSigned, pc) {
				t.Errorf("%#x: signed: %v", pc, row.Signed)
			}
		}
	}
}

// .eh_frame -> SFrame -> STACK CFI equals .eh_frame for the CFA, the return
// address and the frame pointer.
func TestSFrameRoundTrip(t *testing.T) {
	for _, f := range openSFrameFiles(t) {
		for _, version := range []uint8{2, 3} {
			roundTrip(t, f.Path, version)
		}
	}
}
