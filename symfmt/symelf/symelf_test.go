package symelf

import (
	"bytes"
	"context"
	"debug/dwarf"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

func written(t testing.TB, m *symfmt.Module, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, m, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t testing.TB, m *symfmt.Module, o Options) *elf.File {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(written(t, m, o))) //nolint:all // the standard library is a second opinion here
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// goldens returns the symbol files of dwarf2sym's fixtures.
func goldens(t testing.TB) map[string]*symfmt.Module {
	t.Helper()
	all := map[string]*symfmt.Module{}
	paths, _ := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if len(paths) < 100 {
		t.Fatalf("%d symbol files", len(paths))
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ = bytes.Cut(text, []byte("\n# "))
		if m := symtest.Module(t, string(text)+"\n"); arch.ByName(m.Arch) != nil { // not of BPF: ELF files have a machine
			all[strings.TrimSuffix(filepath.Base(path), ".sym")] = m
		}
	}
	return all
}

// The order of a module's records does not matter, and Write does not change it.
func TestAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, m := range goldens(t) {
		want := written(t, m, Options{})
		shuffled := *m
		shuffled.Funcs, shuffled.Publics = slices.Clone(m.Funcs), slices.Clone(m.Publics)
		shuffled.CFI.Blocks = slices.Clone(m.CFI.Blocks)
		rng.Shuffle(len(m.Funcs), func(i, j int) {
			shuffled.Funcs[i], shuffled.Funcs[j] = shuffled.Funcs[j], shuffled.Funcs[i]
		})
		rng.Shuffle(len(m.Publics), func(i, j int) {
			shuffled.Publics[i], shuffled.Publics[j] = shuffled.Publics[j], shuffled.Publics[i]
		})
		rng.Shuffle(len(m.CFI.Blocks), func(i, j int) {
			shuffled.CFI.Blocks[i], shuffled.CFI.Blocks[j] = shuffled.CFI.Blocks[j], shuffled.CFI.Blocks[i]
		})
		before := shuffled.Funcs[:len(shuffled.Funcs):len(shuffled.Funcs)]
		if !bytes.Equal(written(t, &shuffled, Options{}), want) {
			t.Errorf("%s: another file for another order of records", name)
		}
		if len(before) > 0 && &before[0] != &shuffled.Funcs[0] {
			t.Errorf("%s: the module was changed", name)
		}
	}
}

// Class, byte order and machine match the binaries that the goldens were made from.
func TestHeaders(t *testing.T) {
	for name, m := range goldens(t) {
		f := opened(t, m, Options{})
		original, err := elf.Open(testenv.Input(t, name+".elf")) //nolint:all // as above
		if err != nil {
			t.Fatal(err)
		}
		defer original.Close()
		if strings.HasPrefix(name, "object-") && f.Data != original.Data {
			continue // no build id that would identify it
		}
		class := original.Class
		if cpu := arch.ByELF(original.Machine, original.Class); cpu.Narrow {
			class = cpu.Class // MODULE does not give the width of addresses
		}
		if f.Class != class || f.Data != original.Data || f.Machine != original.Machine {
			t.Errorf("%s: %v %v %v, want %v %v %v", name, f.Class, f.Data, f.Machine, class, original.Data, original.Machine)
		}
	}
}

const head = "MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 x\n"

func TestBuildID(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{head, "0302010005040706" + "08090a0b0c0d0e0f"},
		{strings.Replace(head, "x86_64", "s390x", 1), "0001020304050607" + "08090a0b0c0d0e0f"},
		{head + "INFO CODE_ID F9417EA2E3382E93 a.so\n", "f9417ea2e3382e93"},
		{strings.Replace(head, "Linux", "windows", 1) + "INFO CODE_ID 5AB380779000 a.dll\n", "0302010005040706" + "08090a0b0c0d0e0f"},
		{"MODULE Linux x86_64 000000000000000000000000000000000 x\n", ""},
		{"MODULE Linux x86_64 12 x\n", ""},
	} {
		got := ""
		if s := opened(t, symtest.Module(t, c.text), Options{}).Section(".note.gnu.build-id"); s != nil {
			note, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			got = hex.EncodeToString(note[16:])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want string
	}{
		{"MODULE Linux vax 0 x\n", Options{}, `MODULE's CPU "vax" has no known ELF machine`},
		{head, Options{Base: 0x400001}, "base address 0x400001 is not at a page of the CPU x86_64"},
		{"MODULE Linux x86 0 x\n", Options{Base: 1 << 32}, "base address 0x100000000 is not at a page of the CPU x86"},
	} {
		if err := Write(io.Discard, symtest.Module(t, c.text), c.o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if losses := Losses(symtest.Module(t, c.text), c.o); losses != nil {
			t.Errorf("%v, though there is no file", losses)
		}
	}
	m := &symfmt.Module{Arch: "x86_64", Funcs: make([]symfmt.Func, 1<<14)}
	if err := Write(failing{}, m, Options{}); err != io.ErrClosedPipe {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

const lossy = `MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F1 x
INFO GENERATOR a
FILE 0 a.c
INLINE_ORIGIN 0 f
FUNC m 1000 20 8 a
INLINE 0 5 0 0 1018 10
INLINE 2 5 0 0 1008 4
1000 10 1 0
FUNC 1000 20 0 alias
1000 10 2 0
1010 10 3 0
FUNC 2000 0 0 empty
2000 1 1 0
FUNC fffffffffffffff0 8 0 beyond
PUBLIC m 3000 4 p
STACK WIN 4 1000 20 0 0 0 0 0 0 1 $eip 4 + ^
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $zz: 1
STACK CFI 1004 $rbx: $rax 3 /
STACK CFI 1008 $rip: $rax
STACK CFI 1010 .cfa: $foo
STACK CFI 1014 $rbx: $rax
STACK CFI INIT 2000 0 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI INIT 3000 10 .cfa: $rsp 8 +
STACK CFI 3004 $rbx: $rax
`

func TestLosses(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{Base: 0x400000}, []string{
			"INFO records 1", "ages in MODULE's id 1", "FUNC records 1", "sizes of parameters 2", "\"m\" marks 2",
			"line records 3", "parts of INLINE records 2", "STACK WIN records 1",
			"STACK CFI INIT records 1: no code or no address", "STACK CFI INIT records 1: no rule for .cfa or .ra",
			"STACK CFI records 1: no rule for .cfa or .ra", "STACK CFI records 2: the rule for .cfa or .ra cannot be expressed in DWARF",
			"rules of STACK CFI 1: DWARF divides signed numbers", "rules of STACK CFI 1: a rule uses a register without a DWARF number",
			"rules of STACK CFI 1: the program counter has a rule besides .ra",
		}},
		{Options{NoDWARF: true, NoCFI: true, Base: 0x400000}, []string{
			"INFO records 1", "ages in MODULE's id 1", "FUNC records 1", "sizes of parameters 2", "\"m\" marks 2",
			"INLINE_ORIGIN records 1", "INLINE records 2", "line records 4", "STACK WIN records 1",
			"STACK CFI INIT records 3", "STACK CFI records 5",
		}},
	} {
		m := symtest.Module(t, strings.Replace(lossy, "STACK CFI INIT 2000 0 ", "STACK CFI INIT 2000 1 ", 1))
		m.CFI.Blocks[1].Size = 0 // impossible in text
		var got []string
		for _, l := range Losses(m, c.o) {
			s := fmt.Sprintf("%s %d", l.What, l.Count)
			if strings.Contains(l.What, "CFI") && !c.o.NoCFI {
				s += ": " + l.Why
			}
			got = append(got, s)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v:\n%s\nwant\n%s", c.o, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		f := opened(t, m, c.o)
		for _, s := range f.Sections {
			if c.o.NoDWARF && strings.HasPrefix(s.Name, ".debug") || c.o.NoCFI && strings.HasPrefix(s.Name, ".eh_frame") {
				t.Errorf("%+v: there is a section %s", c.o, s.Name)
			}
		}
	}
}

// Rules as call frame instructions.
func TestRules(t *testing.T) {
	for _, c := range []struct{ cpu, rule, want, why string }{
		{"x86_64", ".cfa: $rsp 8 +", "0c0708", ""},
		{"x86_64", ".cfa: $rsp -16 +", "120702", ""},
		{"x86_64", ".cfa: $rsp ^", "0f03770006", ""},
		{"x86_64", ".cfa: .cfa 8 +", "", whyNoCFARule},
		{"x86_64", ".ra: .cfa -8 + ^", "9001", ""},
		{"x86_64", ".ra: 0", "0710", ""},
		{"x86_64", ".ra: 1", "0710", ""},
		{"x86_64", ".ra: .undef", "0710", ""},
		{"x86_64", ".ra: $foo", "", whyNoCFARule},
		{"x86_64", "$rbx: .cfa 8 + ^", "11037f", ""},
		{"x86_64", "$rbx: .cfa -4 + ^", "10030311" + "7c22", ""},
		{"x86_64", "$rbx: .cfa -16 +", "140302", ""},
		{"x86_64", "$rbx: .cfa 16 +", "15037e", ""},
		{"x86_64", "$rbx: $rbx", "0803", ""},
		{"x86_64", "$rbx: $rax", "090300", ""},
		{"x86_64", "$rbx: $rax ^", "1003027000", ""},
		{"x86_64", "$rbx: 7", "16030137", ""},
		{"x86_64", "$rbx: $rax 16 @", "1603057000401f1a", ""},
		{"x86_64", "$rbx: $rax 8 /", "160304" + "70003325", ""},
		{"x86_64", "$rbx: $rax 8 %", "160304" + "7000371a", ""},
		{"arm64", "v8: .cfa -64 + ^", "05480" + "8", ""},
		{"s390x", "r15: r15", "080f", ""},
	} {
		a := arch.ByName(c.cpu)
		table := &symfmt.RuleTable{}
		table.SetArch(a)
		compiler := newCompiler(a, usualOrder(a), table)
		s := compiler.compileText(c.rule)
		got := hex.EncodeToString(compiler.instructions(s, linkColumn))
		why := s.fatal
		if got != c.want || why != c.why {
			t.Errorf("%s: %s %q, want %s %q", c.rule, got, why, c.want, c.why)
		}
	}
}

// compileText compiles the rule set in text.
func (c *compiler) compileText(text string) *ruleSet {
	s := &ruleSet{}
	c.compile(s, c.table.Parse([]byte(text)))
	return s
}

// The link register's own rule needs the program counter's column.
func TestColumns(t *testing.T) {
	const text = "MODULE Linux arm 000102030405060708090A0B0C0D0E0F0 x\n" +
		"STACK CFI INIT 1000 20 .cfa: sp 12 + .ra: .cfa -4 + ^ lr: .cfa -8 + ^\n" +
		"STACK CFI INIT 1020 20 .cfa: sp 0 + .ra: lr\n"
	m := symtest.Module(t, text)
	data, err := opened(t, m, Options{}).Section(".eh_frame").Data()
	if err != nil {
		t.Fatal(err)
	}
	var columns []byte
	for at := 0; at+12 < len(data); {
		n := int(data[at])
		if data[at+4] == 0 && n > 0 {
			columns = append(columns, data[at+14])
		}
		if at += n + 4; n == 0 {
			break
		}
	}
	if want := []byte{15, 14}; !bytes.Equal(columns, want) {
		t.Errorf("return address columns %d, want %d", columns, want)
	}
	for _, l := range Losses(m, Options{}) {
		t.Errorf("lost: %v", l)
	}
}

// inlines shows the tree of a module's first FUNC as debug/dwarf reads it.
func inlines(t *testing.T, text string) string {
	t.Helper()
	f := opened(t, symtest.Module(t, text), Options{})
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	depth := 0
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			return b.String()
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			ranges, err := d.Ranges(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s%v %x\n", strings.Repeat(" ", depth-2), e.Val(dwarf.AttrCallLine), ranges)
		}
		if e.Children {
			depth++
		}
	}
}

// INLINEs that are not nested are rearranged, with the same answers as from resolve.
func TestTree(t *testing.T) {
	const start = head + "FILE 0 a.c\nINLINE_ORIGIN 0 f\nFUNC 1000 100 0 a\n"
	for _, c := range []struct{ inlines, want string }{
		{"INLINE 0 1 0 0 1010 20\nINLINE 1 2 0 0 1018 8\n", "1 [[1010 1030]]\n 2 [[1018 1020]]\n"},
		{"INLINE 0 1 0 0 1010 8 1020 8\nINLINE 1 2 0 0 1014 10\n", "1 [[1010 1018] [1020 1028]]\n 2 [[1014 1018] [1020 1024]]\n"},
		{"INLINE 0 1 0 0 1010 20\nINLINE 0 2 0 0 1018 8\n", "1 [[1010 1018]]\n2 [[1018 1020]]\n"},
		{"INLINE 1 2 0 0 1018 8\nINLINE 0 1 0 0 1010 20\n", "1 [[1010 1030]]\n 2 [[1018 1020]]\n"},
		{"INLINE 0 1 0 0 ff0 20\nINLINE 1 2 0 0 1000 80\n", ""},
		{"INLINE 0 1 0 0 10f0 20\nINLINE 2 2 0 0 10f0 8\n", "1 [[10f0 1100]]\n"},
		{"INLINE 0 1 0 0 1010 8\nINLINE 0 2 0 0 1018 8\nINLINE 1 3 0 0 1010 10\n", "1 [[1010 1018]]\n 3 [[1010 1018]]\n2 [[1018 1020]]\n 3 [[1018 1020]]\n"},
	} {
		if got := inlines(t, start+c.inlines); got != c.want {
			t.Errorf("%s\n%swant\n%s", c.inlines, got, c.want)
		}
	}
}

// Lines that overlap, or lie outside their FUNC, are cut.
func TestLines(t *testing.T) {
	const text = head + "FILE 0 a.c\nFUNC 1000 20 0 a\n1018 10 4 0\n1000 10 1 0\n1008 4 2 0\n1010 4 0 0\nffe 8 9 0\n"
	f := opened(t, symtest.Module(t, text), Options{})
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Reader().Next()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := d.LineReader(e)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var row dwarf.LineEntry
	for lines.Next(&row) == nil {
		if row.EndSequence {
			got = append(got, fmt.Sprintf("%x end", row.Address))
		} else {
			got = append(got, fmt.Sprintf("%x %d", row.Address, row.Line))
		}
	}
	if s, want := strings.Join(got, ", "), "1000 1, 1008 2, 100c end, 1010 0, 1014 end, 1018 4, 1020 end"; s != want {
		t.Errorf("%s, want %s", s, want)
	}
}

// Code at both ends of the address space, and in many places.
func TestLayout(t *testing.T) {
	m := &symfmt.Module{Arch: "x86_64", ID: "000102030405060708090A0B0C0D0E0F0"}
	for i := range uint64(1000) {
		m.Funcs = append(m.Funcs, symfmt.Func{RVA: symfmt.RVA(i << 54), Size: 16, Name: "f"})
	}
	m.Funcs = append(m.Funcs, symfmt.Func{RVA: 0xffffffffffffff00, Size: 0xf0, Name: "last"})
	rules := m.CFI.Rules.Parse([]byte(".cfa: $rsp 8 + .ra: .cfa -8 + ^"))
	m.CFI.Blocks = []symfmt.CFIBlock{{RVA: 0, Size: 16, Init: rules}, {RVA: 0xffffffffffffff00, Size: 0xf0, Init: rules}}
	f := opened(t, m, Options{})
	symbols, err := f.Symbols()
	if err != nil || len(symbols) != 1001 {
		t.Fatalf("%d symbols, %v", len(symbols), err)
	}
	absolute := 0
	for _, s := range symbols {
		if s.Section == elf.SHN_ABS {
			absolute++
		} else if sec := f.Sections[s.Section]; s.Value < sec.Addr || s.Value-sec.Addr >= sec.Size {
			t.Errorf("%s %#x is not in section %s, %#x of %#x bytes", s.Name, s.Value, sec.Name, sec.Addr, sec.Size)
		}
	}
	if absolute != 1001-mostRegions {
		t.Errorf("%d symbols without a section", absolute)
	}
	for i, a := range f.Progs {
		for _, b := range f.Progs[:i] {
			if a.Type == elf.PT_LOAD && b.Type == elf.PT_LOAD && a.Vaddr < b.Vaddr+b.Memsz && b.Vaddr < a.Vaddr+a.Memsz {
				t.Errorf("segments overlap: %+v %+v", a, b)
			}
		}
	}
	if n := len(f.Sections); n > mostRegions+20 {
		t.Errorf("%d sections", n)
	}
}

// structureRules matches messages of eu-elflint and readelf about a file without code: it is
// like a separate debug file, in which eu-elflint expects .eh_frame to have no bytes.
var structureRules = regexp.MustCompile(`section \[ ?\d+\] '\.text(\.\d+)?' (has wrong type: expected PROGBITS, is NOBITS|has unexpected type 8 for an executable section)$` +
	`|section \[ ?\d+\] '\.text(\.\d+)?': alloc flag set but section not in any loaded segment$` +
	`|loadable segment \[\d+\] is executable but contains no executable sections$` +
	`|invalid machine flags: 0x(70001000|80000000)$` + // MIPS: eu-elflint does not know revision 2
	// Code that begins a page has offset 0, where the file's headers are; eu-elflint
	// takes the offset of a section without bytes for the offset of its contents.
	`|section \[ ?\d+\] '\.text' has type NOBITS but is read from the file in segment of program header entry 0 and file contents is non-zero$` +
	`|section \[ ?\d+\] '\.text' not fully contained in segment of program header entry 0$` +
	`|^No errors$`)

// Tools that check ELF files have no complaints.
func TestOracleStructure(t *testing.T) {
	testenv.Oracle(t)
	byRule := map[string]int{}
	files := 0
	for name, m := range goldens(t) {
		if !testenv.OracleFull() && !strings.HasPrefix(name, "cpu-") && !strings.HasPrefix(name, "scopes-") && !strings.HasPrefix(name, "rust-") {
			continue
		}
		for _, base := range []uint64{0, 0x10000} {
			path := filepath.Join(t.TempDir(), "x.elf")
			if err := os.WriteFile(path, written(t, m, Options{Base: base}), 0o600); err != nil {
				t.Fatal(err)
			}
			files++
			out, _ := exec.Command(testenv.Tool(t, "eu-elflint"), "--gnu-ld", path).CombinedOutput()
			for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
				if !structureRules.MatchString(line) {
					t.Errorf("%s: eu-elflint: %s", name, line)
				} else {
					byRule[regexp.MustCompile(`[0-9]+`).ReplaceAllString(line, "")]++
				}
			}
			var stderr bytes.Buffer
			cmd := exec.Command(testenv.Tool(t, "readelf"), "-aW", "--debug-dump", path)
			cmd.Stderr = &stderr
			err := cmd.Run()
			if name == "moved-exec" { // its build id is the five letters
				stderr = *bytes.NewBuffer(bytes.ReplaceAll(stderr.Bytes(), []byte("readelf: Warning: .note.gnu.build-id data size is too small\n"), nil))
			}
			if err != nil || stderr.Len() > 0 {
				t.Errorf("%s: readelf: %v %s", name, err, stderr.Bytes())
			}
			out, err = exec.Command(testenv.Tool(t, "llvm-dwarfdump-22"), "--verify", path).CombinedOutput()
			if err != nil || bytes.Contains(out, []byte("warning")) || bytes.Contains(out, []byte("error:")) {
				t.Errorf("%s: llvm-dwarfdump: %v\n%s", name, err, out)
			}
		}
	}
	t.Logf("%d files; %v", files, byRule)
	if files < 50 {
		t.Errorf("%d files only", files)
	}
}

// Any symbol file gives an ELF file that opens and has all its symbols, and gives the same
// one twice.
func FuzzWrite(f *testing.F) {
	f.Add([]byte(lossy), uint64(0))
	f.Add([]byte(head+"FUNC 10 4 0 a\nPUBLIC ffffffffff000000 0 b\n"), uint64(0xffffffff81000000))
	for _, m := range goldens(f) {
		var text bytes.Buffer
		if err := symfmt.Write(&text, m, symfmt.WriteOptions{}); err != nil {
			f.Fatal(err)
		}
		if text.Len() < 4000 {
			f.Add(text.Bytes(), uint64(0x10000))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, base uint64) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			return
		}
		m := result.Module
		o := Options{Base: base &^ (pageSize - 1)}
		Losses(m, o)
		var out, again bytes.Buffer
		if err := Write(&out, m, o); err != nil {
			return
		}
		if err := Write(&again, m, o); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Fatalf("not the same again: %v", err)
		}
		e, err := elf.NewFile(bytes.NewReader(out.Bytes())) //nolint:all // as above
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Symbols(); err != nil && len(m.Funcs) > 0 {
			t.Fatal(err)
		}
		if e.Section(".debug_info") == nil {
			return
		}
		d, err := e.DWARF()
		if err != nil {
			t.Fatal(err)
		}
		for r := d.Reader(); ; {
			entry, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if entry == nil {
				break
			}
		}
	})
}

// A tree is written recursively: a limit keeps a file from growing the stack without
// bound.
func TestDeepInlines(t *testing.T) {
	const n = symfmt.MaxInlineDepth + 100
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\nFUNC 1000 10 0 g\n")
	for i := range n {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 1000 10\n", i)
	}
	m := symtest.Module(t, b.String())
	losses := Losses(m, Options{})
	i := slices.IndexFunc(losses, func(l symfmt.Loss) bool { return l.What == "parts of INLINE records" })
	if i < 0 || losses[i].Count != 100 {
		t.Errorf("losses %v, want 100 INLINE records", losses)
	}
	data, err := opened(t, m, Options{}).DWARF()
	if err != nil {
		t.Fatal(err)
	}
	inlined := 0
	for r := data.Reader(); ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag == dwarf.TagInlinedSubroutine {
			inlined++
		}
	}
	if inlined != symfmt.MaxInlineDepth {
		t.Errorf("%d inlined subroutines, want %d", inlined, symfmt.MaxInlineDepth)
	}
}
