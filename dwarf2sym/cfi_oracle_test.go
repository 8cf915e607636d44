package dwarf2sym

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// cfiForms are the rules at an address: by register, .cfa and .ra among them,
// as "reg+8", "[CFA-8]", "CFA+8", "same", "undefined", "expr" or a register.
type cfiForms map[string]string

// cfiForeignRow is a row as another tool prints it.
type cfiForeignRow struct {
	addr  uint64
	forms cfiForms
}

type cfiForeignFDE struct {
	lo, hi uint64
	ra     string // register of the return-address column
	rows   []cfiForeignRow
}

// cfiForeign collects what a tool prints; CIEs are in by.
type cfiForeign struct {
	a    *arch.Arch
	by   map[string]*cfiForeignFDE
	fdes []*cfiForeignFDE
	at   *cfiForeignFDE // entry being read
}

// head parses the line of an FDE: "offset length cie FDE cie=OFFSET pc=LO..HI".
func (x *cfiForeign) head(f []string, dots string) {
	cie := strings.TrimPrefix(f[4], "cie=")
	lo, hi, _ := strings.Cut(strings.TrimPrefix(f[5], "pc="), dots)
	x.at = &cfiForeignFDE{lo: cfiHex(lo), hi: cfiHex(hi)}
	if c := x.by[strings.TrimLeft(cie, "0")]; c != nil {
		x.at.ra = c.ra
		for _, r := range c.rows {
			x.at.rows = append(x.at.rows, cfiForeignRow{x.at.lo, r.forms})
		}
	}
	x.fdes = append(x.fdes, x.at)
}

func (x *cfiForeign) cie(offset string) {
	x.at = &cfiForeignFDE{}
	x.by[strings.TrimLeft(offset, "0")] = x.at
}

func (x *cfiForeign) ra(n string) { x.at.ra, _ = x.a.RegName(uint64(cfiAtoi(n))) }

func (x *cfiForeign) row(addr uint64, forms cfiForms) {
	x.at.rows = append(x.at.rows, cfiForeignRow{addr, forms})
}

// done keeps only the last of several rows with the same address, which is the one in
// force.
func (x *cfiForeign) done() []*cfiForeignFDE {
	for _, f := range x.fdes {
		var out []cfiForeignRow
		for k, r := range f.rows {
			if k+1 == len(f.rows) || f.rows[k+1].addr != r.addr {
				out = append(out, r)
			}
		}
		f.rows = out
	}
	return x.fdes
}

// cfiOurs is the row in force from addr on.
type cfiOurs struct {
	addr, end uint64
	forms     cfiForms
}

var cfiOffsetText = regexp.MustCompile(`^(\S+) (-?\d+) \+( \^)?$`)

// cfiFormOf converts the text of a rule for register name to a form.
func cfiFormOf(name, text string) string {
	switch m := cfiOffsetText.FindStringSubmatch(text); {
	case text == ".undef", name == ".ra" && text == "1":
		return "undefined"
	case text == name:
		return "same"
	case m == nil && !strings.ContainsAny(text, " "):
		return text
	case m == nil:
		return "expr"
	case m[1] == ".cfa" && m[3] != "":
		return fmt.Sprintf("[CFA%+d]", cfiAtoi(m[2]))
	case m[1] == ".cfa":
		return fmt.Sprintf("CFA%+d", cfiAtoi(m[2]))
	case m[3] == "":
		return fmt.Sprintf("%s%+d", m[1], cfiAtoi(m[2]))
	}
	return "expr"
}

func cfiAtoi(s string) int64 {
	v, _ := strconv.ParseInt(s, 0, 64)
	return v
}

// cfiSplitRules parses a rule set without symfmt/cfi.
func cfiSplitRules(text string) cfiForms {
	out := cfiForms{}
	name, from := "", 0
	for i, tokens := 0, strings.Fields(text); i <= len(tokens); i++ {
		if i == len(tokens) || strings.HasSuffix(tokens[i], ":") {
			if name != "" {
				out[name] = cfiFormOf(name, strings.Join(tokens[from:i], " "))
			}
			if i < len(tokens) {
				name, from = strings.TrimSuffix(tokens[i], ":"), i+1
			}
		}
	}
	return out
}

func cfiFlatten(t *symfmt.CFITable, base uint64) []cfiOurs {
	var out []cfiOurs
	for _, b := range t.Blocks {
		forms := cfiSplitRules(t.Rules.Text(b.Init))
		lo, end := base+uint64(b.RVA), base+uint64(b.RVA)+b.Size
		for _, r := range t.Rows[b.First : b.First+b.Count] {
			out = append(out, cfiOurs{lo, base + uint64(r.RVA), forms})
			forms = maps.Clone(forms)
			maps.Copy(forms, cfiSplitRules(t.Rules.Text(r.Rules)))
			lo = base + uint64(r.RVA)
		}
		out = append(out, cfiOurs{lo, end, forms})
	}
	return out
}

// cfiDiffs compares rows and counts the results.
type cfiDiffs struct {
	t       *testing.T
	a       *arch.Arch
	rows    int
	wrong   int
	allowed map[string]int // differences that a rule allows
}

func (d *cfiDiffs) fail(format string, args ...any) {
	if d.wrong++; d.wrong <= 5 {
		d.t.Errorf(format, args...)
	}
}

// compare checks that at the start of each foreign row our rules are equal, that
// our rows start nowhere else, and that the same code is covered.
func (d *cfiDiffs) compare(in *unwind.Input, ours []cfiOurs, fdes []*cfiForeignFDE) {
	starts := map[uint64]bool{}
	covered := uint64(0)
	for _, f := range fdes {
		if f.lo == f.hi {
			d.allowed["FDE without code"]++
			continue
		}
		if in.Exec != nil && !in.Exec(f.lo) {
			d.allowed["FDE of dropped code"]++
			continue
		}
		covered += f.hi - f.lo
		perPC := false
		for _, r := range f.rows {
			starts[r.addr] = true
			if r.addr >= f.hi {
				d.allowed["row at the end of its FDE"]++
				continue
			}
			d.rows++
			i, found := slices.BinarySearchFunc(ours, r.addr, func(o cfiOurs, a uint64) int {
				if o.addr > a {
					return 1
				}
				if o.end <= a {
					return -1
				}
				return 0
			})
			if !found {
				d.fail("%#x: no row of ours", r.addr)
				continue
			}
			perPC = perPC || r.forms[".cfa"] == "expr" && ours[i].forms[".cfa"] != "expr"
			d.row(r, f.ra, ours[i].forms)
		}
		if perPC { // rows at every address
			for a := f.lo; a < f.hi; a++ {
				starts[a] = true
			}
		}
	}
	for _, o := range ours {
		covered -= o.end - o.addr
		if !starts[o.addr] {
			d.fail("%#x: a row of ours only", o.addr)
		}
	}
	if covered != 0 {
		d.fail("%d bytes are covered by one side only", int64(covered))
	}
}

// row compares the rules at the same address. Rules:
//
//   - an expression is "expr" there and some rule here (TestCFIExpressions has
//     their values);
//   - no rule, "undefined" of a register that is not expected to be saved and
//     "same" of one that is are all "u" in readelf's output;
//     in ours, no rule and "same" are the same;
//   - a return address without a rule is in its register here;
//   - the stack pointer without a rule is the CFA.
func (d *cfiDiffs) row(r cfiForeignRow, ra string, ours cfiForms) {
	names := map[string]bool{}
	for name := range r.forms {
		names[name] = true
	}
	for name := range ours {
		names[name] = true
	}
	for name := range names {
		want, got := r.forms[name], ours[name]
		switch {
		case want == got, want == "?" && (got == "" || got == "same" || got == "undefined"):
		case want == "" && got == "same":
		case want == "expr" && got != "":
			d.allowed["expression"]++
		case name == ".ra" && (want == "" || want == "?" || want == "same") && got == ra:
		case name == d.a.SP && want == "CFA+0" && got == "":
		case want == "undefined" && got == "" && !slices.Contains(d.a.CalleeSaved, name):
			d.allowed["undefined, which is what nobody says"]++
		default:
			d.fail("%#x: %s is %q here, %q there", r.addr, name, got, want)
		}
	}
}

func (d *cfiDiffs) log(what string, ours int) {
	d.t.Logf("%s: %d rows equal, %d wrong, by rule %v", what, d.rows-d.wrong, d.wrong, d.allowed)
	if d.rows == 0 && ours > 0 {
		d.t.Errorf("%s: nothing compared", what)
	}
}

// cfiSource is compiled for all CPUs; it includes nothing.
const cfiSource = `typedef __builtin_va_list va_list;
extern int ext(const void *, ...);
extern double extd(double, double);
struct big { long a[40]; };
int leaf(int a, int b) { return a * b + 3; }
int one(int a) { return ext(&a) + a; }
int vla(int n) { char b[n + 1]; ext(b, n); return b[n / 2] + ext(b); }
int rec(int n, struct big s) { s.a[n % 40]++; return n ? rec(n - 1, s) + (int)s.a[3] : ext(&s); }
double fp(double a, double b, int n) { double r = a, q = b, s = 1, t = 2, u = 3;
  for (int i = 0; i < n; i++) { r += extd(r, q); q += extd(s, t); s *= u; t -= extd(u, a); u += t; } return r + q + s + t + u; }
long press(long a, long b, long c, long d, long e, long f) { long g = ext(&a), h = ext(&b), i = ext(&c), j = ext(&d), k = ext(&e), l = ext(&f);
  ext(0, g, h, i, j); return a*g + b*h + c*i + d*j + e*k + f*l + ext(0, a, b, c, d, e, f, g, h, i, j, k, l); }
int va(int n, ...) { va_list ap; int s = 0; __builtin_va_start(ap, n); while (n--) s += __builtin_va_arg(ap, int); __builtin_va_end(ap); return s + ext(&s); }
typedef int v16 __attribute__((vector_size(64)));
int aligned(int n) { v16 x __attribute__((aligned(64))); ext(&x); x += n; ext(&x, n); return x[0]; }
int early(int *p, int n) { if (!p) return -1; if (n > 7) { int r = 0; for (int i = 0; i < n; i++) r += ext(p, i) * p[i]; return r; } return p[0]; }
__attribute__((cold, noinline)) void bad(int *p) { ext(p); ext(p); __builtin_trap(); }
int split(int *p, int n) { int r = 0; for (int i = 0; i < n; i++) { if (p[i] < 0) bad(p);
  if (__builtin_expect(p[i] > 1000, 0)) { r += ext(p, 1) * ext(p, 2); } r += leaf(p[i], i); } return r + ext(p); }
int sw(int a) { switch (a) { case 0: return ext("a"); case 1: return ext("b") + 1; case 2: return vla(a); case 3: return one(a) * 2;
  case 4: return ext("e", 5); case 5: return aligned(7); default: return 0; } }
void huge(void) { char b[200000]; ext(b); ext(b + 7); }
void *frame(int n) { return n ? (char *)__builtin_frame_address(0) + ext(0) : __builtin_return_address(0); }
`

// cfiCompile compiles cfiSource.
func cfiCompile(t testing.TB, compiler string, flags ...string) string {
	return cfiCompileSource(t, "f.c", cfiSource, compiler, flags...)
}

// cfiCompileSource compiles a text to a shared library.
func cfiCompileSource(t testing.TB, name, text, compiler string, flags ...string) string {
	dir := t.TempDir()
	src, out := filepath.Join(dir, name), filepath.Join(dir, "f.so")
	if err := os.WriteFile(src, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-g", "-ffreestanding", "-fPIC", "-shared", "-nostdlib", "-o", out, src}, flags...)
	if msg, err := exec.Command(testenv.Tool(t, compiler), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, msg)
	}
	return out
}

// cfiGoProgram builds a Go program, whose CFI is in .debug_frame.
func cfiGoProgram(t testing.TB) string {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	write("main.go", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(1) }\n")
	cmd := exec.Command("go", "build", "-ldflags=-compressdwarf=false", "-o", "m", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, msg)
	}
	return filepath.Join(dir, "m")
}

// cfiOracleFiles are the inputs for comparisons with other tools.
func cfiOracleFiles(t *testing.T, run func(t *testing.T, path string)) {
	for _, path := range []func(testing.TB) string{cfiLibc, cfiLoader, cfiLibstdcxx} {
		t.Run(filepath.Base(path(t)), func(t *testing.T) { run(t, path(t)) })
	}
	t.Run("libc6-dbg", func(t *testing.T) {
		_, f := cfiOpen(t, cfiLibc(t))
		id := fmt.Sprintf("%x", f.BuildID())
		path := "/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug"
		run(t, testenv.File(t, path, "libc6-dbg"))
	})
	t.Run("go", func(t *testing.T) { run(t, cfiGoProgram(t)) })
	fixtures, err := filepath.Glob(filepath.Join(testenv.Input(t), "cpu-*.elf"))
	if err != nil || len(fixtures) == 0 {
		t.Fatalf("%d fixtures: %v", len(fixtures), err)
	}
	for _, path := range fixtures {
		if strings.Contains(path, "cpu-arm64-") {
			continue // return addresses with a code: TestCFILLVM covers them
		}
		t.Run(filepath.Base(path), func(t *testing.T) { run(t, path) })
	}
	for _, cpu := range []string{"arm", "arm64", "mips64", "riscv64", "x86"} {
		t.Run("static "+cpu, func(t *testing.T) { run(t, testenv.Shared(t, "data", "arch", cpu, "prog")) })
	}
	for _, c := range [][]string{
		{"aarch64-linux-gnu-gcc", "-mbranch-protection=standard"}, {"arm-linux-gnueabihf-gcc", "-fexceptions"},
		{"s390x-linux-gnu-gcc"}, {"powerpc64-linux-gnu-gcc"}, {"powerpc-linux-gnu-gcc"}, {"riscv64-linux-gnu-gcc"},
		{"mips64-linux-gnuabi64-gcc"}, {"mips-linux-gnu-gcc"}, {"i686-linux-gnu-gcc"}, {"gcc"},
		{"clang-22"}, {"clang-22", "-mstackrealign", "-fuse-ld=bfd"}, {"gcc", "-mavx512f", "-fno-omit-frame-pointer"},
	} {
		for _, o := range []string{"-O0", "-O2", "-Os"} {
			for _, tables := range []string{"-fasynchronous-unwind-tables", "-fno-asynchronous-unwind-tables"} {
				t.Run(strings.Join(append(c, o, tables), " "), func(t *testing.T) {
					run(t, cfiCompile(t, c[0], append(c[1:], o, tables)...))
				})
			}
		}
	}
}

// TestCFIReadelf compares with readelf at the start of each of its rows.
func TestCFIReadelf(t *testing.T) {
	testenv.Oracle(t)
	cfiOracleFiles(t, func(t *testing.T, path string) { cfiAll(t, path, "readelf", cfiReadelf) })
}

// TestCFILLVM compares with llvm-dwarfdump.
func TestCFILLVM(t *testing.T) {
	testenv.Oracle(t)
	for _, name := range []string{"cpu-arm64-pac.elf", "cpu-arm64-bkey.elf", "cpu-arm64-pac-pc.elf", "cpu-arm64-mte.elf"} {
		t.Run(name, func(t *testing.T) { cfiAgainst(t, testenv.Input(t, name), "llvm-dwarfdump", cfiLLVM) })
	}
	cfiOracleFiles(t, func(t *testing.T, path string) { cfiAll(t, path, "llvm-dwarfdump", cfiLLVM) })
}

func cfiAll(t *testing.T, path, tool string, read cfiTool) {
	if cfiAgainst(t, path, tool, read) == 0 {
		t.Skip("no call frame information in " + path)
	}
}

// cfiTool runs another tool on a section of a file.
type cfiTool func(t *testing.T, a *arch.Arch, path, section string) []*cfiForeignFDE

// CompareCFI compares a file with both tools, and returns the number of compared rows,
// for the comparisons of package dwarf2sym_test.
func CompareCFI(t *testing.T, path string) int {
	t.Helper()
	return min(cfiAgainst(t, path, "readelf", cfiReadelf), cfiAgainst(t, path, "llvm-dwarfdump", cfiLLVM))
}

func cfiAgainst(t *testing.T, path, tool string, read cfiTool) (rows int) {
	all, _ := cfiOpen(t, path)
	for _, s := range all.Sections {
		in := *all
		in.Sections, in.Index = []unwind.Section{s}, nil
		table, _, problems := cfiRead(&in)
		for _, p := range problems {
			t.Log(p)
		}
		d := &cfiDiffs{t: t, a: in.Arch, allowed: map[string]int{}}
		ours := cfiFlatten(&table, in.Base)
		d.compare(&in, ours, read(t, in.Arch, path, s.Name))
		d.log(tool+" "+s.Name, len(ours))
		rows += d.rows
	}
	return rows
}
