package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// The fields of a module show whether its symbols were looked for, where they come from, and what is
// wrong with them.
func TestDocumentModules(t *testing.T) {
	const id = "000102030405060708090A0B0C0D0E0F0"
	names := []string{"good", "bad", "absent", "unasked"}
	idOf := func(name string) string { return fmt.Sprint(slices.Index(names, name), id[1:]) }
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name, idOf(name), name+".sym")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", "MODULE Linux x86_64 "+id+" good\nFUNC 0 10 0 f\n0 10 3 0\nFILE 0 f.c\n")
	file("bad", "no symbols\n")
	d := &dump.Dump{Arch: arch.X86_64, System: dump.System{OS: dump.Linux}, Main: 0}
	for i, name := range names {
		m := dump.Module{Range: dump.Range{Addr: uint64(i+1) << 16, Size: 0x1000}, Path: "/bin/" + name, DebugFile: name, DebugID: idOf(name)}
		d.Modules = append(d.Modules, m)
		if name == "unasked" {
			break
		}
		c := dump.NewContext(arch.X86_64)
		c.Set("$rip", m.Addr+4)
		c.Set("$rsp", 0x9000000)
		d.Threads = append(d.Threads, dump.Thread{ID: uint32(i), Context: c})
	}
	symbols, err := supplier.NewSymbols(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []bool{true, false} {
		sources := &walk.SymbolSet{}
		if asked {
			sources.Symbols = symbols
		}
		r, err := walk.NewWalker(sources, walk.Config{}).Walk(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		doc := NewDocument(r, DocumentOptions{})
		validate(t, documentSchema(t), doc)
		for i, m := range doc.Modules {
			name := names[i]
			if want := asked && name == "good"; m.LoadedSymbols != want || (m.Symtool.File != nil) != want || want && *m.Symtool.File != good {
				t.Errorf("%s, asked %v: loaded %v from %v", name, asked, m.LoadedSymbols, m.Symtool.File)
			}
			if want := asked && (name == "bad" || name == "absent"); m.MissingSymbols != want {
				t.Errorf("%s, asked %v: missing %v", name, asked, m.MissingSymbols)
			}
			if want := asked && name == "bad"; m.CorruptSymbols != want || (m.Symtool.Error != nil) != want {
				t.Errorf("%s, asked %v: corrupt %v, %v", name, asked, m.CorruptSymbols, m.Symtool.Error)
			}
			if want := asked && name == "absent"; want != (len(m.Symtool.Tried) == 1 && strings.Contains(m.Symtool.Tried[0], dir)) {
				t.Errorf("%s, asked %v: tried %q", name, asked, m.Symtool.Tried)
			}
		}
		if f := doc.Threads[0].Frames.at(0); (f.Function != nil) != asked || asked && (*f.Function != "f" || *f.File != "f.c" || *f.Line != 3) {
			t.Errorf("asked %v: %v %v %v", asked, f.Function, f.File, f.Line)
		}
	}
}
