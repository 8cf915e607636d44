package supplier

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// A binary gives the same answers as the symbol file made from it, around the start and the end of each function and
// symbol. There are two differences:
//
//   - the binary has the sizes of symbols and the end of its code; how far a PUBLIC extends is a guess from other records;
//   - readers of symbol files ignore a PUBLIC at 0, as Breakpad's does; an object file has code there.
func TestBinaryAnswersAsItsText(t *testing.T) {
	compared := 0
	files, err := os.ReadDir(testenv.Input(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		path := testenv.Input(t, file.Name())
		if f, err := objfile.Open(path, object.DefaultLimits()); err != nil {
			continue // not a binary, or a universal file
		} else {
			f.Close()
		}
		if compareWithText(t, path) {
			compared++
		}
	}
	if compared < 150 {
		t.Errorf("%d binaries", compared)
	}
}

// compareWithText reports whether it has compared a binary with its symbol file.
func compareWithText(t *testing.T, path string) bool {
	t.Helper()
	b := newBinaries(t, path)
	binary, _, err := b.Symbols(t.Context(), resolve.Module{})
	if binary == nil || err != nil {
		return false // the tests of its reader say why
	}
	defer binary.Close()
	text := filepath.Join(t.TempDir(), "a.sym")
	if err := os.WriteFile(text, []byte(wholeText(t, b, resolve.Module{})), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := resolve.Open(t.Context(), text, resolve.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, rva := range placesIn(t, text) {
		var got, want resolve.Location
		found, err := resolve.Find(t.Context(), binary, rva, &got)
		if err != nil {
			t.Errorf("%s: %#x: %v", path, rva, err)
		}
		known, err := resolve.Find(t.Context(), r, rva, &want)
		if err != nil {
			t.Errorf("%s: %#x: %v", path, rva, err)
		}
		switch {
		case found && known && slices.Equal(got.Frames, want.Frames) && got.Start == want.Start:
		case !found && !known:
		case !found && want.Source == resolve.Public && rva > want.Start:
		case !known && got.Source == resolve.Public && (got.Start == 0 || rva > got.Start):
		default:
			t.Errorf("%s: %#x: %t %+v, want %t %+v", filepath.Base(path), rva, found, got, known, want)
		}
	}
	return true
}

// placesIn returns the addresses around the records of a symbol file.
func placesIn(t *testing.T, path string) (places []symfmt.RVA) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read, err := symfmt.Read(t.Context(), bytes.NewReader(data), symfmt.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m := read.Module
	for i := range m.Funcs {
		start, end := m.Funcs[i].RVA, m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size)
		places = append(places, start-1, start, start+1, start+(end-start)/2, end-1, end)
	}
	for i := range m.Publics {
		places = append(places, m.Publics[i].RVA-1, m.Publics[i].RVA, m.Publics[i].RVA+1, m.Publics[i].RVA+5)
	}
	return append(places, 0, 0x1000)
}
