package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
)

// fixedSupplier has the symbols of every module.
type fixedSupplier struct{ r resolve.Symbols }

func (s fixedSupplier) Symbols(context.Context, resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	if s.r != nil {
		s.r.Share()
	}
	return s.r, nil, nil
}

// FuzzVerify judges arbitrary symbols by a stack of arbitrary bytes, beside the rules of
// the binary.
func FuzzVerify(f *testing.F) {
	binary := testenv.Input(f, "walk-sources.elf")
	text, err := os.ReadFile(filepath.Join(testenv.Root(f), "golden", "dwarf2sym", "walk-sources.sym"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, []byte{}, uint16(0))
	f.Add(bytes.ReplaceAll(text, []byte("$rbp 16"), []byte("$rbp 24")), []byte("abcdefgh"), uint16(16))
	b, err := supplier.NewBinaries([]string{binary}, supplier.BinaryOptions{})
	if err != nil {
		f.Fatal(err)
	}
	file, err := dumpfile.Open(f.Context(), testenv.Input(f, "walk-sources.core.gz"), dumpfile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	d := file.Dump
	f.Cleanup(func() { file.Close() })
	stack := d.Memory.Find(d.Threads[0].Context.SP())
	was := bytes.Clone(stack.Data)
	at := d.Threads[0].Context.SP() - stack.Addr
	f.Fuzz(func(t *testing.T, text, words []byte, off uint16) {
		result, err := symfmt.Read(context.Background(), bytes.NewReader(text), symfmt.ReadOptions{Tolerant: true})
		if err != nil {
			return
		}
		m := result.Module
		r := resolve.FromModule(m, resolve.ModuleOptions{Path: "x.sym"})
		stack.Data = bytes.Clone(was)
		copy(stack.Data[min(int(at)+int(off), len(was)):], words)
		s := &walk.SymbolSet{Symbols: fixedSupplier{r}, Binaries: b}
		defer s.Close()
		w := walk.NewWalker(s, walk.Config{MaxFrames: 5000})
		res, err := w.Walk(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Judge(context.Background(), w, res, Default())
		if err != nil {
			t.Fatal(err)
		}
		if v.Conclusion == "" || v.Holds != (v.Blame == "") && v.Findings[0].Kind != KindBroken && v.Findings[0].Kind != KindNoCall {
			t.Fatalf("%+v", v)
		}
		var out strings.Builder
		if err := Write(&out, v); err != nil || strings.ContainsAny(out.String(), "\x1b\x07\x00\r") {
			t.Fatalf("%v %q", err, out.String())
		}
		if err := json.NewEncoder(io.Discard).Encode(v); err != nil {
			t.Fatal(err)
		}
	})
}

// Findings beyond the limit are counted, and still mean that the symbols do not hold.
func TestVerifyOmits(t *testing.T) {
	v := &verifier{found: map[findingKey]int{}, at: map[findingKey]int{}, verdict: &Verdict{}}
	for i := range maxFindings {
		v.add(nil, nil, Finding{Severity: SeverityNote, Kind: KindNoFunction, Text: strconv.Itoa(i)})
	}
	for i := range maxFindings {
		v.add(nil, nil, Finding{Severity: SeverityError, Kind: KindNoCall, Blame: BlameDump, Text: strconv.Itoa(i)})
	}
	v.conclude()
	if x := v.verdict; len(x.Findings) != maxFindings || x.Omitted != maxFindings || x.Holds || x.Conclusion != "dump to blame: 0 (and 9999 more errors)" {
		t.Errorf("%d findings, %d omitted, holds %v: %s", len(x.Findings), x.Omitted, x.Holds, x.Conclusion)
	}
}
