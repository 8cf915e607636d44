package pdb

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// fixtureNames are the PDBs of the repository.
var fixtureNames = []string{"pdb-x64.pdb.gz", "pdb-x86.pdb.gz"}

func unpack(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

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
		data := unpack(t, testenv.Input(t, name))
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

// frame is what a symbolizer says of an address.
type frame struct {
	file string
	line uint32
}

// framesAt returns the frames of an address, the innermost first.
func framesAt(m *symfmt.Module, rva symfmt.RVA) []frame {
	i := sort.Search(len(m.Funcs), func(i int) bool { return m.Funcs[i].RVA > rva }) - 1
	if i < 0 || rva >= m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size) {
		return nil
	}
	f := &m.Funcs[i]
	name := func(id symfmt.FileID) string { return m.Files[id].Name }
	at := frame{}
	for l := range f.Lines() {
		if l.RVA <= rva && rva < l.RVA+symfmt.RVA(l.Size) {
			at = frame{name(l.File), l.Num}
		}
	}
	var calls []symfmt.Inline
	for in := range f.Inlines() {
		for _, r := range in.Ranges {
			if r.RVA <= rva && rva < r.RVA+symfmt.RVA(r.Size) {
				calls = append(calls, *in)
			}
		}
	}
	slices.SortFunc(calls, func(a, b symfmt.Inline) int { return int(b.Depth) - int(a.Depth) })
	frames := []frame{at}
	for _, c := range calls {
		frames = append(frames, frame{name(c.CallFile), c.CallLine})
	}
	return frames
}

// Functions, inlined calls and lines are those that llvm-symbolizer finds, at each address where a row
// or a call begins or ends.
func TestSymbolizer(t *testing.T) {
	oracles := testenv.SharedGlob(t, "data", "pe", "*", "*", "oracle", "*.pdb.symbolizer.json.gz")
	for _, oracle := range oracles {
		path := filepath.Join(filepath.Dir(filepath.Dir(oracle)), strings.TrimSuffix(filepath.Base(oracle), ".symbolizer.json.gz"))
		data, err := os.ReadFile(path)
		if err != nil {
			continue // basic32.pdb is in a cabinet
		}
		name := filepath.Base(path)
		r, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{File: path})
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		asked, same := 0, 0
		var first []string
		scan := bufio.NewScanner(bytes.NewReader(unpack(t, oracle)))
		scan.Buffer(nil, 1<<20)
		for scan.Scan() {
			var answer struct {
				A     string
				S     [][]any
				Error string
			}
			if err := json.Unmarshal(scan.Bytes(), &answer); err != nil || answer.Error != "" || len(answer.S) == 0 {
				continue
			}
			rva, _ := strconv.ParseUint(answer.A, 0, 64)
			var want []frame
			for _, s := range answer.S {
				line, _ := s[2].(float64)
				file, _ := s[1].(string)
				want = append(want, frame{file, uint32(line)})
			}
			got := framesAt(r.Module, symfmt.RVA(rva))
			if got == nil || want[0].line == 0 {
				continue
			}
			asked++
			if slices.Equal(got, want) {
				same++
			} else if len(first) < 3 {
				first = append(first, fmt.Sprintf("%#x: %v, want %v", rva, got, want))
			}
		}
		t.Logf("%s: %d of %d addresses", name, same, asked)
		if same != asked {
			t.Logf("%s", strings.Join(first, "\n"))
		}
	}
}
