package symdiff

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// revisions of a program in C: between them a function is added, one removed, one
// renamed, one changed, one gets lines before it.
var revisions = [2]string{`
#include <stdio.h>
#include <string.h>
static inline int twice(int x) { return x * 2 + (x > 9); }
__attribute__((noinline)) static int first(int n) {
	int s = 0;
	for (int i = 0; i < n; i++)
		s += twice(i);
	return s;
}
__attribute__((noinline)) int removed(const char *s) {
	int n = 0;
	while (*s++)
		n += *s == 'a';
	return n;
}
__attribute__((noinline)) int old_name(int a, int b) {
	int s = a;
	while (b--)
		s = s * 31 + twice(b);
	return s ^ a;
}
__attribute__((noinline)) int changed(int n) {
	return n ? first(n) : 7;
}
__attribute__((noinline)) int last(int n) {
	puts("last");
	return n + twice(n);
}
int main(int c, char **v) { return first(c) + removed(v[0]) + old_name(c, c) + changed(c) + last(c); }
`, `
#include <stdio.h>
#include <string.h>
static inline int twice(int x) { return x * 2 + (x > 9); }
__attribute__((noinline)) static int first(int n) {
	int s = 0;
	for (int i = 0; i < n; i++)
		s += twice(i);
	return s;
}
__attribute__((noinline)) int added(const char *s, int k) {
	return (int)strlen(s) * k;
}
__attribute__((noinline)) int new_name(int a, int b) {
	int s = a;
	while (b--)
		s = s * 31 + twice(b);
	return s ^ a;
}
__attribute__((noinline)) int changed(int n) {
	if (n > 100)
		puts("much");
	return n ? first(n) : 7;
}
__attribute__((noinline)) int last(int n) {
	puts("last");
	return n + twice(n);
}
int main(int c, char **v) { return first(c) + added(v[0], c) + new_name(c, c) + changed(c) + last(c); }
`}

var goRevisions = [2]string{`package main

import "fmt"

func main() { fmt.Println(one(3), gone(4), kept(5)) }

//go:noinline
func one(n int) int { return n * n }

//go:noinline
func gone(n int) string { return fmt.Sprint(n, n) }

//go:noinline
func kept(n int) (s int) {
	for i := range n {
		s += one(i)
	}
	return s
}
`, `package main

import "fmt"

func main() { fmt.Println(one(3), came(4, "x"), kept(5)) }

//go:noinline
func one(n int) int { return n*n + 1 }

//go:noinline
func came(n int, s string) string { return fmt.Sprint(s, n, s) }

//go:noinline
func kept(n int) (s int) {
	for i := range n {
		s += one(i)
	}
	return s
}
`}

// The report on two revisions of a program agrees with a simple comparison of the two
// models, function by function and byte by byte, and with nm's output for the
// binaries.
func TestRevisions(t *testing.T) {
	testenv.Oracle(t)
	nm := testenv.Tool(t, "nm")
	dir := t.TempDir()
	symtool := testenv.Symtool(t)
	builds := map[string][]string{}
	for _, cc := range []string{"gcc", "clang-22"} {
		for _, level := range []string{"-O0", "-O2", "-Os"} {
			builds[cc+" "+level] = []string{testenv.Tool(t, cc), "-g", level, "-ffunction-sections"}
		}
	}
	builds["go"] = nil
	for _, name := range slices.Sorted(maps.Keys(builds)) {
		t.Run(name, func(t *testing.T) {
			var texts [2][]byte
			var symbols [2]map[string]bool
			for i := range texts {
				elf := filepath.Join(t.TempDir(), "prog")
				src := filepath.Join(dir, "prog.c")
				code, line := revisions[i], append(slices.Clone(builds[name]), "-o", elf, src)
				if name == "go" {
					src = filepath.Join(dir, "prog.go")
					code, line = goRevisions[i], []string{"go", "build", "-o", elf, src}
				}
				if err := os.WriteFile(src, []byte(code), 0o600); err != nil {
					t.Fatal(err)
				}
				command(t, dir, line...)
				command(t, dir, symtool, "dump", "-o", elf+".sym", elf)
				texts[i], _ = os.ReadFile(elf + ".sym")
				symbols[i] = symbolsOf(command(t, dir, nm, "--defined-only", elf))
			}
			r := compare(t, texts[0], texts[1], Options{})
			n := checkNaively(t, r, newDoc(t, texts[0]), newDoc(t, texts[1]))
			m := checkSymbols(t, r, symbols)
			t.Logf("%d functions compared byte by byte, %d names with nm, %d changes", n, m, len(r.Changes))
		})
	}
}

func command(t *testing.T, dir string, line ...string) []byte {
	t.Helper()
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(line, " "), err, stderr.Bytes())
	}
	return out
}

// symbolsOf returns the functions that nm lists.
func symbolsOf(list []byte) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(f) == 3 && strings.Contains("TtWw", f[1]) {
			out[f[2]] = true
		}
	}
	return out
}

// namesOf reads the old and the new name of each change of functions.
func namesOf(t *testing.T, r *Result) (old, new map[string]Aspect) {
	old, new = map[string]Aspect{}, map[string]Aspect{}
	d := r.Details()
	for _, c := range r.Changes {
		if c.Kind != Functions {
			continue
		}
		x, err := d.Names(c)
		if err != nil {
			t.Fatal(err)
		}
		if x.Old != nil {
			old[x.Old.Name] |= c.What
		}
		if x.New != nil {
			new[x.New.Name] |= c.What
		}
	}
	return old, new
}

// checkSymbols compares with nm: what was added, removed or renamed is in only one
// of the binaries.
func checkSymbols(t *testing.T, r *Result, symbols [2]map[string]bool) (n int) {
	old, new := namesOf(t, r)
	for i, side := range [...]map[string]Aspect{old, new} {
		for name := range symbols[i] {
			what, listed := side[name]
			if other := symbols[1-i][name]; listed && other == (what&(Added|Removed|Renamed) != 0) {
				t.Errorf("side %d: %s: reported as %q, in the other binary: %v", i, name, what.Names(), other)
			}
			n++
		}
		for name, what := range side {
			if what&(Added|Removed|Renamed) != 0 && symbols[1-i][name] {
				t.Errorf("side %d: %s is %q, but the other binary has it", i, name, what.Names())
			}
		}
	}
	for _, pair := range [...][2]string{{"removed", "added"}, {"main.gone", "main.came"}} {
		if symbols[0][pair[0]] && (old[pair[0]]&Removed == 0 || old[pair[0]]&Lost != 0 || new[pair[1]]&Added == 0) {
			t.Errorf("%q, %q", old[pair[0]].Names(), new[pair[1]].Names())
		}
	}
	if symbols[0]["old_name"] && new["new_name"]&Renamed == 0 {
		t.Errorf("new_name: %q", new["new_name"].Names())
	}
	return n
}

// checkNaively compares functions whose names are unique, byte by byte.
func checkNaively(t *testing.T, r *Result, a, b *doc) (n int) {
	unique := func(d *doc) map[string]*docFunc {
		out := map[string]*docFunc{}
		for i := range d.funcs {
			f := &d.funcs[i]
			if _, ok := out[f.Name]; ok {
				out[f.Name] = nil
				continue
			}
			out[f.Name] = f
		}
		return out
	}
	fs, gs := unique(a), unique(b)
	_, changed := namesOf(t, r)
	for name, g := range gs {
		f, ok := fs[name]
		if g == nil || ok && f == nil {
			continue
		}
		n++
		if !ok {
			if changed[name]&(Added|Renamed) == 0 {
				t.Errorf("%s is new, but reported as %q", name, changed[name].Names())
			}
			continue
		}
		for _, c := range [...]struct {
			what    Aspect
			differs bool
		}{
			{Moved, f.RVA != g.RVA},
			{Resized, f.Size != g.Size},
			{LinesChanged | LinesShifted, !slices.Equal(a.linesByByte(f), b.linesByByte(g))},
			{InlinesChanged | InlinesShifted, !slices.Equal(a.callsByByte(f), b.callsByByte(g))},
			{CFIChanged, f.Size == g.Size && !slices.Equal(a.rulesByByte(f), b.rulesByByte(g))},
		} {
			if changed[name]&c.what != 0 != c.differs && !(c.what == CFIChanged && f.Size != g.Size) {
				t.Errorf("%s: reported as %q, but %q is %v", name, changed[name].Names(), c.what.Names(), c.differs)
			}
		}
	}
	return n
}

func (d *doc) base(id symfmt.FileID) string {
	for _, f := range d.m.Files {
		if f.ID == id {
			return filepath.Base(f.Name)
		}
	}
	return ""
}

func (d *doc) linesByByte(f *docFunc) []string {
	out := make([]string, f.Size)
	for _, l := range f.lines {
		text := fmt.Sprintf("%s:%d", d.base(l.File), l.Num)
		for k := range l.Size {
			out[uint64(l.RVA-f.RVA)+k] = text
		}
	}
	return out
}

func (d *doc) callsByByte(f *docFunc) []string {
	out := make([]string, f.Size)
	for _, in := range f.inlines {
		origin := ""
		for _, o := range d.m.Origins {
			if o.ID == in.Origin {
				origin = o.Name
			}
		}
		text := fmt.Sprintf("%d %s %s:%d; ", in.Depth, origin, d.base(in.CallFile), in.CallLine)
		for _, r := range in.Ranges {
			for k := range r.Size {
				out[uint64(r.RVA-f.RVA)+k] += text
			}
		}
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1] // the size is compared separately
	}
	return out
}

// rulesByByte returns the texts of the records in force: our own dumps write equal rules
// in only one way.
func (d *doc) rulesByByte(f *docFunc) []string {
	out := make([]string, f.Size)
	for _, b := range d.blocks {
		if b.rva+symfmt.RVA(b.size) <= f.RVA || b.rva >= f.stop() {
			continue
		}
		rules := map[string]string{}
		next := 0
		set := func(text string) {
			for _, r := range splitRules(text) {
				rules[r[0]] = strings.Join(r, " ")
			}
		}
		set(b.init)
		for at := b.rva; at < b.rva+symfmt.RVA(b.size); at++ {
			for next < len(b.rows) && b.rows[next].rva <= at {
				set(b.rows[next].rules)
				next++
			}
			if at >= f.RVA && at < f.stop() {
				out[at-f.RVA] = strings.Join(slices.Sorted(maps.Values(rules)), " ")
			}
		}
	}
	return out
}
