package callframe_test

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// exidxForeign is an entry as another tool prints it.
type exidxForeign struct {
	lo   uint64
	cant bool
	none bool // the tool prints no instructions
	ops  []exidxForeignOp
}

// exidxForeignOp is an instruction: its first byte, and the tool's text.
type exidxForeignOp struct {
	code uint64
	text string
}

// exidxReadelf reads the output of "readelf -u".
func exidxReadelf(t *testing.T, path string) (all []exidxForeign) {
	t.Helper()
	entry := regexp.MustCompile(`^0x([0-9a-f]+)(?: <.*>)?: (@?)0x[0-9a-f]+( \[cantunwind\])?$`)
	op := regexp.MustCompile(`^  ((?:0x[0-9a-f]{2} )+) *([^0].*)$`)
	for _, line := range oracle.Readelf(t, path, "-u", "-W") {
		if m := entry.FindStringSubmatch(line); m != nil {
			all = append(all, exidxForeign{lo: cfitest.Hex(m[1]), cant: m[3] != ""})
			continue
		}
		if m := op.FindStringSubmatch(line); m != nil {
			e := &all[len(all)-1]
			code, _, _ := strings.Cut(m[1], " ")
			e.ops = append(e.ops, exidxForeignOp{uint64(cfitest.Atoi(code)), strings.ToLower(m[2])})
		}
	}
	for i := range all {
		all[i].none = len(all[i].ops) == 0 && !all[i].cant
	}
	return all
}

// exidxLLVM reads the output of "llvm-readelf -u".
func exidxLLVM(t *testing.T, path string) (all []exidxForeign) {
	t.Helper()
	for _, line := range oracle.LLVMReadelf(t, path, "-u") {
		line = strings.TrimSpace(line)
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case name == "FunctionAddress:":
			all = append(all, exidxForeign{lo: cfitest.Hex(strings.TrimPrefix(rest, "0x"))})
		case name == "Model:":
			e := &all[len(all)-1]
			e.cant, e.none = rest == "CantUnwind", rest == "Generic"
		case strings.HasPrefix(line, "0x") && strings.Contains(line, ";"):
			_, text, _ := strings.Cut(line, ";")
			e := &all[len(all)-1]
			e.ops = append(e.ops, exidxForeignOp{uint64(cfitest.Atoi(name)), strings.TrimSpace(text)})
		}
	}
	return all
}

// exidxMachine executes instructions as a tool names them, with arbitrary values in
// registers and memory.
type exidxMachine struct {
	vsp  uint32
	regs map[string]uint32
}

// exidxMemory has a different word at each address.
type exidxMemory struct{}

func (exidxMemory) ReadWord(addr uint64) (uint64, bool) {
	x := (addr + 0x9e37) * 0x9e3779b97f4a7c15
	x ^= x >> 29
	x *= 0xbf58476d1ce4e5b9
	return uint64(uint32(x >> 31)), true
}

func exidxWord(addr uint32) uint32 {
	v, _ := exidxMemory{}.ReadWord(uint64(addr))
	return uint32(v)
}

func exidxStart(reg int) uint32 { return uint32(reg+1) * 0x01234567 }

// errors of exidxMachine.run
const (
	exidxRefused  = "refused"
	exidxReserved = "reserved"
)

// run executes an entry. It returns why the entry gives no rules, or "".
func (m *exidxMachine) run(t *testing.T, ops []exidxForeignOp) string {
	m.regs = map[string]uint32{}
	for i := range 16 {
		m.regs[exidxName(fmt.Sprintf("r%d", i))] = exidxStart(i)
	}
	m.vsp = m.regs["sp"]
	ra := "lr"
	for _, op := range ops {
		f := strings.FieldsFunc(op.text, func(r rune) bool { return strings.ContainsRune(" ,{}=", r) })
		switch {
		case op.text == "finish":
			m.regs["ra"] = m.regs[ra]
			return ""
		case op.text == "refuse to unwind":
			return exidxRefused
		case strings.HasPrefix(op.text, "["), strings.HasPrefix(op.text, "spare"), strings.HasPrefix(op.text, "reserved"), op.text == "pop":
			return exidxReserved
		case strings.HasPrefix(op.text, "vsp as modifier"):
		case f[0] == "pop":
			if m.pop(op.code, exidxExpand(f[1:])) {
				ra = "pc"
			}
		case f[0] == "vsp" && len(f) == 2:
			m.vsp = m.regs[exidxName(f[1])]
		case f[0] == "vsp" && len(f) == 4 && f[2] == "+":
			m.vsp += uint32(cfitest.Atoi(f[3]))
		case f[0] == "vsp" && len(f) == 4 && f[2] == "-":
			m.vsp -= uint32(cfitest.Atoi(f[3]))
		default:
			t.Fatalf("unwind instruction %q", op.text)
		}
	}
	m.regs["ra"] = m.regs[ra]
	return ""
}

// pop pops registers and reports whether pc was one of them.
func (m *exidxMachine) pop(code uint64, names []string) (pc bool) {
	at := m.vsp
	for _, name := range names {
		m.regs[name] = exidxWord(at)
		switch {
		case name[0] == 'd', strings.HasPrefix(name, "wr"):
			at += 8
		default:
			at += 4
		}
		pc = pc || name == "pc"
	}
	if code == 0xb3 || code >= 0xb8 && code < 0xc0 { // FSTMFDX
		at += 4
	}
	m.vsp = at
	if slices.Contains(names, "sp") {
		m.vsp = m.regs["sp"]
	}
	return pc
}

// exidxExpand expands ranges, and uses Breakpad's names.
func exidxExpand(list []string) (names []string) {
	for _, s := range list {
		from, to, isRange := strings.Cut(strings.ToLower(s), "-")
		if !isRange {
			names = append(names, exidxName(from))
			continue
		}
		prefix := strings.TrimRight(from, "0123456789")
		first, _ := strconv.Atoi(from[len(prefix):])
		last, _ := strconv.Atoi(to[len(prefix):])
		for i := first; i <= last; i++ {
			names = append(names, fmt.Sprintf("%s%d", prefix, i))
		}
	}
	return names
}

func exidxName(s string) string {
	switch s = strings.ToLower(s); s {
	case "fp":
		return "r11"
	case "ip":
		return "r12"
	case "r13":
		return "sp"
	case "r14":
		return "lr"
	case "r15":
		return "pc"
	}
	return s
}

// exidxDiffs compares entries and counts the results.
type exidxDiffs struct {
	t       *testing.T
	entries int
	wrong   int
	allowed map[string]int
}

func (d *exidxDiffs) fail(format string, args ...any) {
	if d.wrong++; d.wrong <= 5 {
		d.t.Errorf(format, args...)
	}
}

// exidxAgainst compares the block of each entry with a tool's output: by range, and by the
// values that its rules and the tool's instructions give.
func exidxAgainst(t *testing.T, path string, read func(*testing.T, string) []exidxForeign) *exidxDiffs {
	all, f := cfitest.Open(t, path)
	in := *all
	in.Sections = nil
	table, _, found := cfitest.Read(&in)
	ours := map[uint64]int{}
	for i, b := range table.Blocks {
		ours[in.Base+uint64(b.RVA)] = i
	}
	d := &exidxDiffs{t: t, allowed: map[string]int{}}
	entries := read(t, path)
	slices.SortStableFunc(entries, func(a, b exidxForeign) int { return int(int64(a.lo) - int64(b.lo)) })
	bad := 0
	names := cfi.NewNames(arch.ARM)
	for i, e := range entries {
		end := uint64(0)
		for _, s := range f.Sections {
			if s.Exec && s.Holds(e.lo) {
				end = s.Addr + s.FileSize
			}
		}
		if i+1 < len(entries) {
			end = min(end, entries[i+1].lo)
		}
		k, has := ours[e.lo]
		d.entries++
		if e.none {
			d.allowed["generic model, of which the tool shows no instructions"]++
			delete(ours, e.lo)
			continue
		}
		var m exidxMachine
		why := exidxRefused
		if !e.cant {
			why = m.run(t, e.ops)
		}
		switch {
		case why == exidxReserved && !has:
			bad++
			d.allowed["reserved"]++
		case why != "" && !has:
			d.allowed["no unwinding"]++
		case why != "" || !has:
			d.fail("%#x: block %v, there %q %v", e.lo, has, why, e.ops)
		case table.Blocks[k].Size != end-e.lo:
			d.fail("%#x: %#x bytes, there %#x", e.lo, table.Blocks[k].Size, end-e.lo)
		default:
			text := string(table.Rules.Text(table.Blocks[k].Init))
			if diff := m.compare(t, names, text); diff != "" {
				d.fail("%#x: %s: %s, instructions %v", e.lo, diff, text, e.ops)
			}
		}
		if has {
			delete(ours, e.lo)
		}
	}
	for lo := range ours {
		d.fail("%#x: a block of ours only", lo)
	}
	if bad != len(found) {
		d.fail("%d problems, %d entries with reserved instructions", len(found), bad)
	}
	return d
}

// compare evaluates rules on the start values and compares each register.
func (m *exidxMachine) compare(t *testing.T, names *cfi.Names, text string) string {
	rules, err := names.ParseRules(text)
	if err != nil {
		t.Fatal(err)
	}
	var row cfi.Row
	row.Apply(rules)
	callee, caller := names.NewRegs(), names.NewRegs()
	for i := range 16 {
		callee.Set(names.Lookup(exidxName(fmt.Sprintf("r%d", i))), uint64(exidxStart(i)))
	}
	if err := row.Caller(callee, exidxMemory{}, caller); err != nil {
		return err.Error()
	}
	for name, want := range m.regs {
		what := name
		switch {
		case strings.HasPrefix(name, "w"), name == "ra_auth_code", name == "pc":
			continue
		case name == "ra":
			what = "pc"
		case name == "sp":
			want = m.vsp
		case name == "lr" && m.regs["lr"] == m.regs["ra"]:
			continue // .ra says it
		}
		got, known := caller.Get(names.Lookup(what))
		if !known && want == exidxUnchanged(name) {
			continue
		}
		if uint32(got) != want || !known {
			return fmt.Sprintf("%s is %#x (%v), want %#x", name, got, known, want)
		}
	}
	return ""
}

// exidxUnchanged returns the start value of a register. Registers that no function saves
// are unknown to callers.
func exidxUnchanged(name string) uint32 {
	for i := range 16 {
		if exidxName(fmt.Sprintf("r%d", i)) == name {
			return exidxStart(i)
		}
	}
	return 0
}

// exidxCompile builds src/exidx.cc.
func exidxCompile(t testing.TB, compiler string, flags ...string) string {
	text := testenv.ReadInput(t, "src", "exidx.cc")
	return cfitest.CompileSource(t, "f.cc", string(text), compiler, flags...)
}

// exidxFiles are the inputs for comparisons.
func exidxFiles(t *testing.T, run func(t *testing.T, path string)) {
	for _, name := range []string{"exidx.elf", "exidx-be8.elf", "exidx-cxx.elf", "exidx-lld.elf", "cpu-arm.elf", "cpu-thumb.elf"} {
		t.Run(name, func(t *testing.T) { run(t, testenv.Input(t, name)) })
	}
	t.Run("libc", func(t *testing.T) {
		run(t, testenv.File(t, "/usr/arm-linux-gnueabihf/lib/libc.so.6", "libc6-armhf-cross"))
	})
	t.Run("libstdc++", func(t *testing.T) {
		run(t, testenv.File(t, "/usr/arm-linux-gnueabihf/lib/libstdc++.so.6", "libstdc++6-armhf-cross"))
	})
	exidxBuilds(t, run)
	t.Run("shared", func(t *testing.T) {
		files, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "arm"), "*.so*"))
		if err != nil || len(files) == 0 {
			t.Skip("no files")
		}
		for _, path := range files {
			t.Run(filepath.Base(path), func(t *testing.T) { run(t, path) })
		}
	})
}

// exidxBuilds compiles for ARM and Thumb.
func exidxBuilds(t *testing.T, run func(t *testing.T, path string)) {
	clang := []string{"clang++-22", "--target=armv7a-linux-gnueabihf", "-fuse-ld=lld", "-Wl,--no-undefined-version"}
	for _, c := range [][]string{
		append(slices.Clone(clang), "-marm"), append(slices.Clone(clang), "-mthumb"),
		append(slices.Clone(clang), "-mthumb", "-fno-omit-frame-pointer"),
		{"arm-linux-gnueabihf-g++", "-marm"}, {"arm-linux-gnueabihf-g++", "-mthumb"},
		{"arm-linux-gnueabihf-g++", "-marm", "-mapcs-frame"}, {"arm-linux-gnueabihf-g++", "-mthumb", "-fno-omit-frame-pointer"},
		{"arm-linux-gnueabihf-g++", "-marm", "-mbig-endian", "-Wl,--be8"},
	} {
		for _, o := range []string{"-O0", "-O2", "-Os"} {
			t.Run(strings.Join(append(c, o), " "), func(t *testing.T) {
				run(t, exidxCompile(t, c[0], append(c[1:], o, "-fexceptions", "-funwind-tables")...))
			})
		}
	}
}

// exidxNamed returns a copy of a file in which personality routines have the name that
// readelf knows, because it shows no instructions otherwise.
func exidxNamed(t *testing.T, path string) string {
	routine := regexp.MustCompile(`^  Personality routine: 0x([0-9a-f]+)(?: <.*\+0x[0-9a-f]+>)?$`)
	var args []string
	seen := map[string]bool{}
	_, f := cfitest.Open(t, path)
	for _, line := range oracle.Readelf(t, path, "-u", "-W") {
		m := routine.FindStringSubmatch(line)
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		addr := cfitest.Hex(m[1])
		for _, s := range f.Sections {
			if s.Exec && s.Holds(addr) {
				args = append(args, "--add-symbol", fmt.Sprintf("__gxx_personality_v0=%s:%#x,function,global", s.Name, addr-s.Addr))
			}
		}
	}
	if len(args) == 0 {
		return path
	}
	out := filepath.Join(t.TempDir(), filepath.Base(path))
	if msg, err := exec.Command(testenv.Tool(t, "llvm-objcopy-22"), append(args, path, out)...).CombinedOutput(); err != nil {
		t.Fatalf("llvm-objcopy: %v\n%s", err, msg)
	}
	return out
}

// TestExidxReadelf compares each entry with readelf. Rules:
//
//   - 0xb6, 0xb7 and others that readelf does not know are reserved.
func TestExidxReadelf(t *testing.T) {
	testenv.Oracle(t)
	exidxFiles(t, func(t *testing.T, path string) {
		d := exidxAgainst(t, exidxNamed(t, path), exidxReadelf)
		d.log("readelf")
		if n := d.allowed["generic model, of which the tool shows no instructions"]; n > 0 {
			t.Errorf("%d entries were not compared", n)
		}
	})
}

// TestExidxLLVM compares each entry with llvm-readelf, which shows no
// instructions of the generic model.
func TestExidxLLVM(t *testing.T) {
	testenv.Oracle(t)
	exidxFiles(t, func(t *testing.T, path string) {
		if filepath.Base(path) == "exidx.elf" {
			t.Skip("0xb5 is spare there, and a missing operand is read behind the end")
		}
		if _, f := cfitest.Open(t, path); f.Order == binary.ByteOrder(binary.BigEndian) {
			t.Skip("prints nothing for big-endian files")
		}
		d := exidxAgainst(t, path, exidxLLVM)
		d.log("llvm-readelf")
	})
}

func (d *exidxDiffs) log(what string) {
	d.t.Logf("%s: %d entries, %d wrong, by rule %v", what, d.entries, d.wrong, d.allowed)
	if d.entries == 0 {
		d.t.Errorf("%s: nothing compared", what)
	}
}
