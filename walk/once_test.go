package walk

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// endingSupplier ends the context of the first request, like a caller that no longer waits for a
// server.
type endingSupplier struct {
	resolve.Supplier
	mu    sync.Mutex
	end   context.CancelCauseFunc // nil once it was called
	asked int
}

func (s *endingSupplier) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s.mu.Lock()
	s.asked++
	if s.end != nil {
		s.end(errEnded)
		s.end = nil
	}
	s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	return s.Supplier.Symbols(ctx, m)
}

var errEnded = errors.New("not waited for")

// A cancelled walk does not affect others: the next walk with the same SymbolSet, and one that waits
// for it, have the symbols and the binary's rules.
func TestEndedWalkIsForgotten(t *testing.T) {
	binary, core := testenv.Input(t, "walk-sources.elf"), testenv.Input(t, "walk-sources.core.gz")
	dir := t.TempDir()
	if err := walktest.WriteSymbols(binary, dir); err != nil {
		t.Fatal(err)
	}
	want := stackText(walkFile(t, core, symbolSources(t, dir), Config{}))
	ctx, cancel := context.WithCancelCause(context.Background())
	supplier := &endingSupplier{Supplier: symbolSources(t, dir).Symbols, end: cancel}
	s := &SymbolSet{Symbols: supplier, Binaries: binarySources(t, binary).Binaries}
	file, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{}})
	if err != nil {
		t.Fatal(err)
	}
	d := file.Dump
	defer file.Close()
	if _, err := NewWalker(s, Config{}).Walk(ctx, d); !errors.Is(err, errEnded) || supplier.asked != 1 {
		t.Errorf("error %v after %d requests", err, supplier.asked)
	}
	var wait sync.WaitGroup
	for _, c := range []Config{{}, {Techniques: []Technique{ByEHFrame}}, {Techniques: []Technique{BySFrame}}} {
		wait.Go(func() {
			r := walkFile(t, core, s, c)
			if got := stackText(r); got != want || r.Modules[0].Err != nil {
				t.Errorf("%v: %v\n%swant\n%s", c.Techniques, r.Modules[0].Err, got, want)
			}
		})
	}
	wait.Wait()
	if asked := supplier.asked; asked > 1+len(d.Modules) {
		t.Errorf("asked %d times for %d modules", asked, len(d.Modules))
	}
	if _, err := NewWalker(s, Config{}).Walk(ctx, d); !errors.Is(err, errEnded) {
		t.Errorf("a walk cancelled before it began: error %v", err)
	}
}
