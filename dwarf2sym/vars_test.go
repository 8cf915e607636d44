package dwarf2sym

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// readVars reads a fixture with all of its variables.
func readVars(t *testing.T, path string, o Options) *Result {
	t.Helper()
	o.Vars = VarOptions{Params: true, Locals: true, FullTypes: true}
	o.NoCFI, o.DwoDirs, o.DebugDirs = true, []string{filepath.Dir(path)}, []string{filepath.Dir(path)}
	result, err := ReadFile(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func symbolText(t *testing.T, m *symfmt.Module) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := symfmt.Write(&b, m, symfmt.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What is read from any fixture does not depend on the number of workers, survives a round trip through its text,
// and leaves the other records as they are without variables.
func TestVarsOfFixtures(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	n := 0
	for _, path := range files {
		if strings.HasPrefix(filepath.Base(path), "bad-") {
			continue
		}
		result := readVars(t, path, Options{Jobs: 1})
		text := symbolText(t, result.Module)
		if many := symbolText(t, readVars(t, path, Options{Jobs: 4}).Module); !bytes.Equal(many, text) {
			t.Errorf("%s: four workers read something else", path)
		}
		if result.Module.Vars == nil {
			continue
		}
		n += len(result.Module.Vars.Funcs)
		back, err := symfmt.Read(t.Context(), bytes.NewReader(text), symfmt.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if !back.Module.Vars.Equal(result.Module.Vars) || !bytes.Equal(symbolText(t, back.Module), text) {
			t.Errorf("%s: what is read back is not what was written", path)
		}
		plain, _ := result.Module.SplitVars()
		without, err := ReadFile(t.Context(), path, Options{NoCFI: true, DwoDirs: []string{filepath.Dir(path)}, DebugDirs: []string{filepath.Dir(path)}})
		if err != nil || !without.Module.Equal(plain) {
			t.Errorf("%s: without variables the module is another one (%v)", path, err)
		}
		checkVars(t, path, result.Module)
	}
	if n < 500 {
		t.Errorf("%d functions with variables only", n)
	}
}

// checkVars checks that functions match FUNCs, and inline scopes their INLINEs.
func checkVars(t *testing.T, path string, m *symfmt.Module) {
	t.Helper()
	for i := range m.Vars.Funcs {
		f := &m.Vars.Funcs[i]
		k, ok := slices.BinarySearchFunc(m.Funcs, f.RVA, func(f symfmt.Func, rva symfmt.RVA) int { return int(f.RVA) - int(rva) })
		if !ok || m.Funcs[k].Size != f.Size {
			t.Errorf("%s: no FUNC is that at %#x", path, f.RVA)
			continue
		}
		inlines, _ := m.Funcs[k].Body.Counts()
		var walk func(b *vars.Block)
		walk = func(b *vars.Block) {
			if b.Inline >= inlines {
				t.Errorf("%s: scope of INLINE %d of %d at %#x", path, b.Inline, inlines, f.RVA)
			}
			for i := range b.Blocks {
				walk(&b.Blocks[i])
			}
		}
		if tree := f.Tree(m.Vars); tree != nil {
			walk(tree)
		}
	}
}

// varsAt lists the variables around an address, innermost first, with the names of their types, and whether they
// have a location there.
func varsAt(m *symfmt.Module, rva symfmt.RVA) (list []string) {
	in := m.Vars
	for _, s := range in.At(rva, nil) {
		for _, v := range s.Vars {
			va := &in.Vars[v.Var]
			list = append(list, va.Name+" "+in.Types[va.Type].Name+" "+in.Exprs[v.Expr].String())
		}
	}
	return list
}

// Variables in split debug information are the same as in the program without splitting: in .dwo files and in
// packages, in both versions.
func TestVarsOfSplitFiles(t *testing.T) {
	for _, name := range []string{"split-clang4", "split-clang5", "split-gcc4", "split-gcc5", "split-dwp-clang4", "split-dwp-clang5", "split-dwp-gcc4"} {
		m := readVars(t, testenv.Input(t, name+".elf"), Options{}).Module
		if m.Vars == nil {
			t.Errorf("%s: no variables", name)
			continue
		}
		known, all := 0, 0
		for i := range m.Vars.Funcs {
			f := &m.Vars.Funcs[i]
			for rva := f.RVA; rva < f.RVA+symfmt.RVA(f.Size); rva++ {
				for _, v := range varsAt(m, rva) {
					all++
					if strings.Contains(v, "unsupported") {
						t.Errorf("%s: %#x: %s", name, rva, v)
					}
					if !strings.HasSuffix(v, " ") {
						known++
					}
				}
			}
		}
		if all == 0 || known*3 < all {
			t.Errorf("%s: of %d places of variables %d are known", name, all, known)
		}
	}
}

// Structures are read through type units and through what dwz has moved: if a structure has members anywhere, every
// structure of that name has them.
func TestVarsTypes(t *testing.T) {
	for _, name := range []string{"gcc-dwarf4-types", "gcc-dwarf5-types", "dwz4", "dwz5", "split-types-gcc5", "split-types-clang5", "split-types-dwp-clang5", "gcc-dwarf5", "clang-dwarf5"} {
		in := readVars(t, testenv.Input(t, name+".elf"), Options{}).Module.Vars
		if in == nil {
			t.Errorf("%s: no variables", name)
			continue
		}
		types := map[string]bool{}
		for i := range in.Types {
			if types[in.Types[i].Name] = true; in.Types[i].Kind == vars.Void && i > 0 {
				t.Errorf("%s: type %d is void", name, i)
			}
		}
		if !types["int"] {
			t.Errorf("%s: no int among %d types", name, len(in.Types))
		}
	}
}

// A frame base that is a list, as gcc writes it for DWARF 2, becomes the location of an unnamed variable to
// which the frame base refers.
func TestVarsFrameBaseList(t *testing.T) {
	c := coreOf(t, `
	.debug_info
	unit 2
		compile_unit language/data1=0x0c
			i: base_type name/string="int" byte_size/data1=4 encoding/data1=5
			subprogram name/string="f" low_pc/addr=0x1000 high_pc/addr=0x1020 frame_base/data4=0
				variable name/string="v" type/ref4=&i location/block1=<91 6c>
	.debug_loc
	u64 0x1000
	u64 0x1004
	u16 2
	<77 08>
	u64 0x1004
	u64 0x1020
	u16 2
	<77 18>
	u64 0
	u64 0
`)
	want := "INFO VAR E b:7:8 b:7:18 f:-14 call:1\nINFO VAR V L0+1: l1:v\nINFO VAR G 1,\nINFO VAR L c\nINFO VAR F 1000 20 4/4hc 1h1h2=3\n"
	if got := c.text(t, Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}}, coreRun{jobs: 1}); !strings.HasSuffix(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// A structure outside its scope has the scope of the declaration that it specifies, as gcc writes structures in type
// units.
func TestVarsSpecifiedType(t *testing.T) {
	c := coreOf(t, `
	.debug_info
	unit 4
		compile_unit language/data1=4
			namespace name/string="ns"
				d: structure_type name/string="S" declaration/flag=1
			s: structure_type name/string="S" byte_size/data1=4 specification/ref4=&d
			subprogram name/string="f" low_pc/addr=0x1000 high_pc/addr=0x1020 frame_base/block1=<9c>
				variable name/string="v" type/ref4=&s location/block1=<91 6c>
`)
	got := c.text(t, Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}}, coreRun{jobs: 1})
	if want := "INFO VAR T s#4 \"ns::S\n"; !strings.Contains(got, want) {
		t.Errorf("got:\n%s\nwant %s", got, want)
	}
}

// The members of a structure are read if something that has a value leads to it, in any unit; other structures have
// only name and size. In Go, a value may have any type.
func TestVarsTypesWithoutValues(t *testing.T) {
	unit := func(language, code string) string {
		return strings.NewReplacer("LANGUAGE", language, "CODE", code).Replace(`
	unit 4
		compile_unit language/data1=LANGUAGE
			iCODE: base_type name/string="int" byte_size/data1=4 encoding/data1=5
			nCODE: structure_type name/string="Never" byte_size/data1=4 decl_line/data1=1
				member name/string="m" type/ref4=&iCODE data_member_location/data1=0
			eCODE: structure_type name/string="Elsewhere" byte_size/data1=4 decl_line/data1=2
				member name/string="m" type/ref4=&iCODE data_member_location/data1=0
			pCODE: pointer_type type/ref4=&eCODE
			subprogram name/string="f" low_pc/addr=0xCODE000 high_pc/addr=0xCODE020 frame_base/block1=<9c>
				variable name/string="n" type/ref4=&nCODE
				variable name/string="e" type/ref4=&eCODE
				variable name/string="p" type/ref4=&pCODE `)
	}
	for _, test := range []struct{ name, info, want string }{
		{"no value", unit("12", "1"), `s#4 "Never !|s#4 "Elsewhere !|p2#8`},
		{"a value of a pointer", unit("12", "1") + "location/block1=<91 6c>", `s#4 "Never !|s#4 "Elsewhere .4:m|p2#8|b#4 "int %5`},
		{"in another unit", unit("12", "1") + unit("12", "2") + "location/block1=<91 6c>", `s#4 "Never !|s#4 "Elsewhere .4:m|p2#8|b#4 "int %5`},
		{"in a unit before", unit("12", "1") + "location/block1=<91 6c>" + unit("12", "2"), `s#4 "Never !|s#4 "Elsewhere .4:m|p2#8|b#4 "int %5`},
		{"of another unit", unit("12", "1") + strings.Replace(unit("12", "2"), "type/ref4=&p2", "type/ref_addr=&p1", 1) + "location/block1=<91 6c>",
			`s#4 "Never !|s#4 "Elsewhere .4:m|p2#8|b#4 "int %5`},
		{"Go", unit("22", "1"), `s#4 "Never .4:m|s#4 "Elsewhere .4:m|p2#8|b#4 "int %5`},
	} {
		c := coreOf(t, "\t.debug_info"+test.info+"\n")
		for _, jobs := range []int{1, 2} {
			got := c.text(t, Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}}, coreRun{jobs: jobs})
			var types []string
			for line := range strings.Lines(got) {
				if text, ok := strings.CutPrefix(line, "INFO VAR T "); ok {
					types = append(types, strings.TrimSpace(text))
				}
			}
			if got := strings.Join(types, "|"); got != test.want {
				t.Errorf("%s, %d jobs: got types %s\nwant %s", test.name, jobs, got, test.want)
			}
		}
	}
}

// A symbol's version is removed, and symbols of older versions are ignored.
func TestUnversioned(t *testing.T) {
	for symbol, want := range map[string]string{"f": "f", "f@@V2": "f", "f@V1": "", "": "", "@@V2": ""} {
		name, ok := unversioned([]byte(symbol))
		if ok != (want != "") || ok && string(name) != want {
			t.Errorf("%q: got %q, %v", symbol, name, ok)
		}
	}
}
