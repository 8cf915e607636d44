package callframe_test

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/testenv"
)

// pdataGoPrograms are programs whose libraries contain different kinds of code: large frames, assembly, callbacks of
// the system, generic functions.
var pdataGoPrograms = map[string]string{
	"hello": `import "fmt"; func main() { fmt.Println(1) }`,
	"web": `import ("fmt"; "net/http"); func main() { fmt.Println(http.ListenAndServe(":0",
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL) }))) }`,
	"math": `import ("crypto/ed25519"; "crypto/rand"; "fmt"; "math/big"; "math/cmplx"); func main() {
		_, k, _ := ed25519.GenerateKey(rand.Reader); fmt.Println(new(big.Int).Exp(big.NewInt(3), big.NewInt(900), nil),
		cmplx.Sqrt(complex(float64(k[0]), 2))) }`,
	"text": `import ("encoding/json"; "go/parser"; "go/token"; "os"; "regexp"; "text/template"); func main() {
		f, _ := parser.ParseFile(token.NewFileSet(), os.Args[0], nil, 0); json.NewEncoder(os.Stdout).Encode(f)
		template.Must(template.New("").Parse("{{.}}")).Execute(os.Stdout, regexp.MustCompile("a+").String()) }`,
	"callbacks": `import ("fmt"; "sort"; "sync"; "syscall"); func big(n int) (r int) { var a [70000]byte; defer func() { recover(); r++ }()
		for i := range a { a[i] = byte(n / i) }; return int(a[n]) }
		func sum[T int | float64](x ...T) (s T) { for _, v := range x { s += v }; return }
		func main() { var w sync.WaitGroup; w.Add(1); go func() { defer w.Done(); fmt.Println(big(3), sum(1, 2), sum(1.5)) }()
		w.Wait(); sort.Slice([]int{2, 1}, func(i, j int) bool { return i < j })
		fmt.Println(syscall.NewCallback(func(a, b uintptr) uintptr { return a + b })) }`,
}

// pdataGoBuild builds the programs for Windows and returns the files.
func pdataGoBuild(t *testing.T) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module m\n\ngo 1.26\n")
	for name, text := range pdataGoPrograms {
		write(name+"/main.go", "package main\n"+text+"\n")
	}
	cmd := exec.Command("go", "build", "-ldflags=-compressdwarf=false", "-o", dir+"/", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=mod", "GOOS=windows", "GOARCH=amd64")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, msg)
	}
	for _, name := range slices.Sorted(maps.Keys(pdataGoPrograms)) {
		paths = append(paths, filepath.Join(dir, name+".exe"))
	}
	return paths
}

// Go writes the same unwind codes with and without DWARF. The codes of Windows programs, and the epilogues found by
// their instructions, are compared with .debug_frame as llvm-dwarfdump reads it, at every instruction.
func TestOraclePdataGo(t *testing.T) {
	testenv.Oracle(t)
	for _, path := range pdataGoBuild(t) {
		in, _ := cfitest.Open(t, path)
		in.Sections = nil // .debug_frame
		table, _, problems := cfitest.Read(in)
		for _, p := range problems {
			t.Error(p)
		}
		g := pdataGo{t: t, in: in, path: filepath.Base(path), ours: cfitest.Flatten(&table, in.Base), reasons: map[string]int{}}
		slices.SortFunc(g.ours, func(a, b cfitest.Row) int { return cmp.Compare(a.Addr, b.Addr) })
		for _, f := range cfitest.LLVM(t, in.Arch, path, ".debug_frame") {
			g.function(f)
		}
		t.Logf("%s: %d instructions equal, %d without rules, %d different, %v", g.path, g.equal, g.none, g.wrong, g.reasons)
		if g.equal < 100_000 || g.none > g.equal/20 {
			t.Errorf("%s: %d instructions compared, %d have no rules", g.path, g.equal, g.none)
		}
	}
}

// pdataGo compares the rules that .pdata gives a program.
type pdataGo struct {
	t                  *testing.T
	in                 *unwind.Input
	path               string
	ours               []cfitest.Row
	equal, none, wrong int
	reasons            map[string]int // number of differences by reason
}

// function compares the rules at each instruction of a function.
func (g *pdataGo) function(f *cfitest.ForeignFDE) {
	s, ok := g.in.Tables(f.Lo)
	if !ok {
		return
	}
	rows := f.Rows
	set, jumped := false, false // rbp holds the frame's value; no row has begun since a jump
	for at := f.Lo; at < f.Hi && at-s.Addr < uint64(len(s.Data)); {
		for len(rows) > 1 && rows[1].Addr <= at {
			rows, jumped = rows[1:], false
		}
		code := s.Data[at-s.Addr:]
		g.at(at, set, jumped, rows[0].Forms[".cfa"])
		n, _, _ := insn.AMD64(code, at)
		if n == 0 {
			return
		}
		at += uint64(n)
		switch {
		case bytes.HasPrefix(code, []byte{0x48, 0x89, 0xe5}): // mov rbp, rsp
			set = true
		case code[0] == 0x5d: // pop rbp
			set = false
		case code[0]&0xfd == 0xe9, code[0] == 0xff && code[1]>>3&7 == 4: // jmp
			jumped = true
		case code[0] == 0xc3 && len(rows) > 1 && rows[1].Addr == at: // the code that follows has another frame
			set = rows[1].Forms[".cfa"] != "$rsp+8"
		}
	}
}

// at compares the CFA at an instruction.
func (g *pdataGo) at(at uint64, set, jumped bool, want string) {
	got := pdataFormsAt(g.ours, at)
	switch {
	case got == nil:
		g.none++
	case got[".cfa"] == want, got[".cfa"] == "$rbp+16" && set:
		g.equal++
	case jumped && got[".cfa"] == "$rbp+16" && want == "$rsp+8":
		g.reasons["DWARF has no row where only a branch from before the epilogue leads"]++
	default:
		if g.wrong++; g.wrong <= 5 {
			g.t.Errorf("%s: %#x: %s here, %s there", g.path, at, got[".cfa"], want)
		}
	}
}
