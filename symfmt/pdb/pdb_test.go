package pdb

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// fixtureNames are the PDBs of the repository.
var fixtureNames = []string{"pdb-x64.pdb.gz", "pdb-x86.pdb.gz"}

func read(t testing.TB, data []byte, file string, jobs int) *symfmt.Result {
	t.Helper()
	r, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{File: file, Jobs: jobs})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The symbol file of each PDB is as in golden/symfmt/pdb, with one worker and with several.
func TestGolden(t *testing.T) {
	for _, name := range fixtureNames {
		data := testenv.Gunzip(t, testenv.Input(t, name))
		var texts [2]bytes.Buffer
		for i, jobs := range []int{1, 4} {
			r := read(t, data, strings.TrimSuffix(name, ".gz"), jobs)
			if len(r.Problems) > 0 {
				t.Error(r.Problems)
			}
			if err := symfmt.Write(&texts[i], r.Module, symfmt.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		testenv.Golden(t).Assert(t, strings.TrimSuffix(name, ".pdb.gz")+".sym", texts[0].Bytes())
		if !bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
			t.Errorf("%s: 4 workers write something else than one", name)
		}
	}
}

// Records of compiler-generated code and of assembly have decorated names.
func TestDecoratedRecords(t *testing.T) {
	n := &names{types: typeReader{typeTable: new(typeTable)}, ids: typeReader{typeTable: new(typeTable)}, room: minNames}
	for raw, want := range map[string]string{
		"f": "f", "_f": "_f", "@f@8": "f", "@f": "f", "?f@@YAXH@Z": "f(int)", "?fin$0@0@f@@": "`f'::`1'::fin$0", "?f@@": "?f@@",
	} {
		if got := string(n.nameOf(&proc{name: []byte(raw)})); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// Functions without a type take the arguments from their decorated name, if they have one.
func TestFunctionsWithoutType(t *testing.T) {
	for _, c := range []struct{ name, public, want string }{
		{"ns::f", "?f@ns@@YAXH@Z", "ns::f(int)"}, {"ns::f", "?g@ns@@YAXH@Z", "ns::f"}, {"ns::f", "f", "ns::f"},
		{"ns::f(char)", "?f@ns@@YAXH@Z", "ns::f(char)"}, {"f", "?f@ns@@YAXH@Z", "f"},
	} {
		f := symfmt.Func{Name: c.name}
		if new(merger).complete(&f, c.public); f.Name != c.want {
			t.Errorf("%s, %s: %s", c.name, c.public, f.Name)
		}
	}
}

// With RawNames, functions and public symbols have the linker's names.
func TestRawNames(t *testing.T) {
	data := testenv.Gunzip(t, testenv.Input(t, "pdb-x64.pdb.gz"))
	plain := read(t, data, "x.pdb", 1).Module
	result, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{File: "x.pdb", RawNames: true})
	if err != nil {
		t.Fatal(err)
	}
	decorated := 0
	for i, f := range result.Module.Funcs {
		out, err := demangle.Append(nil, f.Name)
		if err != nil {
			continue
		}
		decorated++
		// clang's records and its symbols call the same destructor by two names.
		if got, want := string(out), plain.Funcs[i].Name; got != want && !strings.Contains(got, "destructor'") && !strings.Contains(got, "__int64") {
			t.Errorf("%s: %s, want %s", f.Name, got, want)
		}
	}
	if decorated < 20 {
		t.Errorf("%d decorated names", decorated)
	}
	for i, p := range result.Module.Publics {
		if name, _ := undecorate(p.Name, false); name != plain.Publics[i].Name {
			t.Errorf("%s, and %s", p.Name, plain.Publics[i].Name)
		}
	}
}

// exercise reads everything in a file.
func exercise(data []byte) {
	r, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{File: "x.pdb", Jobs: 1})
	if err != nil {
		return
	}
	for i := range r.Module.Funcs {
		for range r.Module.Funcs[i].Lines() {
		}
		for range r.Module.Funcs[i].Inlines() {
		}
	}
}

// Damage causes an error or fewer symbols: truncation, changed bytes, blocks with arbitrary
// numbers.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for _, name := range fixtureNames {
		data := testenv.Gunzip(t, testenv.Input(t, name))
		for n := 0; n < len(data); n += 509 {
			exercise(data[:n])
		}
		for at := 0; at < len(data); at += 31 {
			bad := bytes.Clone(data)
			bad[at] ^= byte(1 + at%255)
			exercise(bad)
		}
		for at := len(magic); at < superSize; at++ {
			bad := bytes.Clone(data)
			bad[at] = 0xff
			exercise(bad)
		}
	}
}

func TestRefused(t *testing.T) {
	for head, want := range map[string]string{
		"BSJB\x01\x00": "x: a portable PDB of .NET, which describes no native code",
		"Microsoft C/C++ program database 2.00\r\n\x1aJG\x00\x00": "x: a PDB of Visual C++ 6 or earlier, which is not supported",
		"MSCF":                             "x: a cabinet: extract the PDB in it (cabextract)",
		"MODULE":                           "x: not a PDB file",
		magic:                              "x: not a PDB file",
		magic + strings.Repeat("\x03", 40): "x: blocks of 50529027 bytes, want a power of two from 512 to 32768",
	} {
		_, err := Read(context.Background(), strings.NewReader(head), int64(len(head)), Options{File: "x"})
		if err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", head, err, want)
		}
	}
}

func FuzzPDB(f *testing.F) {
	for _, name := range fixtureNames {
		data := testenv.Gunzip(f, testenv.Input(f, name))
		f.Add(data)
		f.Add(reordered(f, data, 0x30))
	}
	f.Fuzz(func(t *testing.T, data []byte) { exercise(data) })
}

// Names of C functions lose the linker's decoration, which says how many bytes of arguments
// there are.
func TestUndecorate(t *testing.T) {
	for _, c := range []struct {
		name, plain string
		x86         bool
		params      uint64
	}{
		{"_f", "f", true, 0}, {"_f@12", "f", true, 12}, {"@f@12", "f", true, 4}, {"@f@4", "f", true, 0}, {"?f@@YAXXZ", "?f@@YAXXZ", true, 0},
		{"__chkstk", "_chkstk", true, 0}, {"__chkstk", "__chkstk", false, 0}, {"_f@12", "_f@12", false, 0},
		{"f@@24", "f", true, 0}, {"f@@24", "f", false, 0}, {"_f@@x", "f@@x", true, 0}, {"@@8", "@@8", false, 0}, {"@@8", "@@8", true, 0}, {"_@8", "_@8", true, 0}, {"_", "_", true, 0},
		{"?f@@YGXH@Z@4", "?f@@YGXH@Z@4", true, 0},
	} {
		if plain, params := undecorate(c.name, c.x86); plain != c.plain || params != c.params {
			t.Errorf("%s: %s, %d", c.name, plain, params)
		}
	}
}
