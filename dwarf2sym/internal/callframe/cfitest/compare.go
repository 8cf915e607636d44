// Package cfitest is for tests only: it compares STACK CFI with what readelf and llvm-dwarfdump print of the same
// sections, row by row.
package cfitest

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

// Forms are the rules at an address: by register, .cfa and .ra among them,
// as "reg+8", "[CFA-8]", "CFA+8", "same", "undefined", "expr" or a register.
type Forms map[string]string

// ForeignRow is a row as another tool prints it.
type ForeignRow struct {
	Addr  uint64
	Forms Forms
}

// ForeignFDE is an FDE as another tool prints it.
type ForeignFDE struct {
	Lo, Hi uint64
	ra     string // register of the return-address column
	Rows   []ForeignRow
}

// foreign collects what a tool prints; CIEs are in by.
type foreign struct {
	a    *arch.Arch
	by   map[string]*ForeignFDE
	fdes []*ForeignFDE
	at   *ForeignFDE // entry being read
}

// head parses the line of an FDE: "offset length cie FDE cie=OFFSET pc=LO..HI".
func (x *foreign) head(f []string, dots string) {
	cie := strings.TrimPrefix(f[4], "cie=")
	lo, hi, _ := strings.Cut(strings.TrimPrefix(f[5], "pc="), dots)
	x.at = &ForeignFDE{Lo: Hex(lo), Hi: Hex(hi)}
	if c := x.by[strings.TrimLeft(cie, "0")]; c != nil {
		x.at.ra = c.ra
		for _, r := range c.Rows {
			x.at.Rows = append(x.at.Rows, ForeignRow{x.at.Lo, r.Forms})
		}
	}
	x.fdes = append(x.fdes, x.at)
}

func (x *foreign) cie(offset string) {
	x.at = &ForeignFDE{}
	x.by[strings.TrimLeft(offset, "0")] = x.at
}

func (x *foreign) ra(n string) { x.at.ra, _ = x.a.RegName(uint64(Atoi(n))) }

func (x *foreign) row(addr uint64, forms Forms) {
	x.at.Rows = append(x.at.Rows, ForeignRow{addr, forms})
}

// done keeps only the last of several rows with the same address, which is the one in
// force.
func (x *foreign) done() []*ForeignFDE {
	for _, f := range x.fdes {
		var out []ForeignRow
		for k, r := range f.Rows {
			if k+1 == len(f.Rows) || f.Rows[k+1].Addr != r.Addr {
				out = append(out, r)
			}
		}
		f.Rows = out
	}
	return x.fdes
}

// Row is the row in force from addr on.
type Row struct {
	Addr, End uint64
	Forms     Forms
}

var offsetText = regexp.MustCompile(`^(\S+) (-?\d+) \+( \^)?$`)

// formOf converts the text of a rule for register name to a form.
func formOf(name, text string) string {
	switch m := offsetText.FindStringSubmatch(text); {
	case text == ".undef", name == ".ra" && text == "1":
		return "undefined"
	case text == name:
		return "same"
	case m == nil && !strings.ContainsAny(text, " "):
		return text
	case m == nil:
		return "expr"
	case m[1] == ".cfa" && m[3] != "":
		return fmt.Sprintf("[CFA%+d]", Atoi(m[2]))
	case m[1] == ".cfa":
		return fmt.Sprintf("CFA%+d", Atoi(m[2]))
	case m[3] == "":
		return fmt.Sprintf("%s%+d", m[1], Atoi(m[2]))
	}
	return "expr"
}

// Atoi parses a number that a tool printed.
func Atoi(s string) int64 {
	v, _ := strconv.ParseInt(s, 0, 64)
	return v
}

// splitRules parses a rule set without symfmt/cfi.
func splitRules(text string) Forms {
	out := Forms{}
	name, from := "", 0
	for i, tokens := 0, strings.Fields(text); i <= len(tokens); i++ {
		if i == len(tokens) || strings.HasSuffix(tokens[i], ":") {
			if name != "" {
				out[name] = formOf(name, strings.Join(tokens[from:i], " "))
			}
			if i < len(tokens) {
				name, from = strings.TrimSuffix(tokens[i], ":"), i+1
			}
		}
	}
	return out
}

// Flatten returns the rows of all blocks, in order of address.
func Flatten(t *symfmt.CFITable, base uint64) []Row {
	var out []Row
	for _, b := range t.Blocks {
		forms := splitRules(t.Rules.Text(b.Init))
		lo, end := base+uint64(b.RVA), base+uint64(b.RVA)+b.Size
		for _, r := range t.Rows[b.First : b.First+b.Count] {
			out = append(out, Row{lo, base + uint64(r.RVA), forms})
			forms = maps.Clone(forms)
			maps.Copy(forms, splitRules(t.Rules.Text(r.Rules)))
			lo = base + uint64(r.RVA)
		}
		out = append(out, Row{lo, end, forms})
	}
	return out
}

// diffs compares rows and counts the results.
type diffs struct {
	t       *testing.T
	a       *arch.Arch
	rows    int
	wrong   int
	allowed map[string]int // differences that a rule allows
}

func (d *diffs) fail(format string, args ...any) {
	if d.wrong++; d.wrong <= 5 {
		d.t.Errorf(format, args...)
	}
}

// compare checks that at the start of each foreign row our rules are equal, that
// our rows start nowhere else, and that the same code is covered.
func (d *diffs) compare(in *unwind.Input, ours []Row, fdes []*ForeignFDE) {
	starts := map[uint64]bool{}
	covered := uint64(0)
	for _, f := range fdes {
		if f.Lo == f.Hi {
			d.allowed["FDE without code"]++
			continue
		}
		if in.Exec != nil && !in.Exec(f.Lo) {
			d.allowed["FDE of dropped code"]++
			continue
		}
		covered += f.Hi - f.Lo
		perPC := false
		for _, r := range f.Rows {
			starts[r.Addr] = true
			if r.Addr >= f.Hi {
				d.allowed["row at the end of its FDE"]++
				continue
			}
			d.rows++
			i, found := slices.BinarySearchFunc(ours, r.Addr, func(o Row, a uint64) int {
				if o.Addr > a {
					return 1
				}
				if o.End <= a {
					return -1
				}
				return 0
			})
			if !found {
				d.fail("%#x: no row of ours", r.Addr)
				continue
			}
			perPC = perPC || r.Forms[".cfa"] == "expr" && ours[i].Forms[".cfa"] != "expr"
			d.row(r, f.ra, ours[i].Forms)
		}
		if perPC { // rows at every address
			for a := f.Lo; a < f.Hi; a++ {
				starts[a] = true
			}
		}
	}
	for _, o := range ours {
		covered -= o.End - o.Addr
		if !starts[o.Addr] {
			d.fail("%#x: a row of ours only", o.Addr)
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
func (d *diffs) row(r ForeignRow, ra string, ours Forms) {
	names := map[string]bool{}
	for name := range r.Forms {
		names[name] = true
	}
	for name := range ours {
		names[name] = true
	}
	for name := range names {
		want, got := r.Forms[name], ours[name]
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
			d.fail("%#x: %s is %q here, %q there", r.Addr, name, got, want)
		}
	}
}

func (d *diffs) log(what string, ours int) {
	d.t.Logf("%s: %d rows equal, %d wrong, by rule %v", what, d.rows-d.wrong, d.wrong, d.allowed)
	if d.rows == 0 && ours > 0 {
		d.t.Errorf("%s: nothing compared", what)
	}
}

// source is compiled for all CPUs; it includes nothing.
const source = `typedef __builtin_va_list va_list;
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

// Compile compiles source.
func Compile(t testing.TB, compiler string, flags ...string) string {
	return CompileSource(t, "f.c", source, compiler, flags...)
}

// CompileSource compiles a text to a shared library.
func CompileSource(t testing.TB, name, text, compiler string, flags ...string) string {
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

// GoProgram builds a Go program, whose CFI is in .debug_frame.
func GoProgram(t testing.TB) string {
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

// Tool runs another tool on a section of a file.
type Tool func(t *testing.T, a *arch.Arch, path, section string) []*ForeignFDE

// Compare compares a file with both tools, and returns the number of compared rows,
// of the tool that has fewer.
func Compare(t *testing.T, path string) int {
	t.Helper()
	return min(Against(t, path, "readelf", Readelf), Against(t, path, "llvm-dwarfdump", LLVM))
}

// Against compares each section of a file with a tool, and returns the number of compared rows.
func Against(t *testing.T, path, tool string, read Tool) (rows int) {
	all, _ := Open(t, path)
	for _, s := range all.Sections {
		in := *all
		in.Sections, in.Index = []unwind.Section{s}, nil
		table, _, problems := Read(&in)
		for _, p := range problems {
			t.Log(p)
		}
		d := &diffs{t: t, a: in.Arch, allowed: map[string]int{}}
		ours := Flatten(&table, in.Base)
		d.compare(&in, ours, read(t, in.Arch, path, s.Name))
		d.log(tool+" "+s.Name, len(ours))
		rows += d.rows
	}
	return rows
}
