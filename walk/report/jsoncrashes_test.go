package report

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// The instruction of each crash is the same from the minidump, which holds its code, and
// from the core, for which it is in the binary. It is at the address of the crash.
func TestCrashesByBothDumps(t *testing.T) {
	cases, found := 0, 0
	for _, path := range walktest.SharedDumps(t) {
		if filepath.Base(path) != "dump.dmp" {
			continue
		}
		cases++
		dir := filepath.Dir(path)
		s, err := supplier.NewBinaries([]string{dir}, supplier.BinaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var infos []docCrash
		var sources []string
		for _, name := range []string{"dump.dmp", "core"} {
			all := &walk.SymbolSet{Binaries: s}
			r, err := walk.NewWalker(all, walk.Config{}).Walk(t.Context(), walktest.Opened(t, filepath.Join(dir, name)))
			if err != nil {
				t.Fatal(err)
			}
			doc := NewDocument(r, DocumentOptions{})
			infos = append(infos, doc.CrashInfo)
			if x := doc.Symtool.Crash; x != nil {
				sources = append(sources, x.Source)
			}
			all.Close()
		}
		if !reflect.DeepEqual(infos[0], infos[1]) {
			t.Errorf("%s: %+v from the minidump, %+v from the core", dir, infos[0], infos[1])
		}
		if len(infos[0].CrashInconsistencies) > 0 {
			t.Errorf("%s: %q", dir, infos[0].CrashInconsistencies)
		}
		if filepath.Base(dir) == "nullcall" {
			continue // no code where it crashed
		}
		if strings.Join(sources, " ") == "dump binary" && len(infos[0].MemoryAccesses) == 1 && infos[0].MemoryAccesses[0].Address == *infos[0].Address {
			found++
		} else {
			t.Errorf("%s: %q %+v", dir, sources, infos[0].MemoryAccesses)
		}
	}
	if found != cases-1 || cases < 9 {
		t.Errorf("%d instructions of %d crashes", found, cases)
	}
}

func TestMain(m *testing.M) { os.Exit(walktest.RunTests(m)) }
