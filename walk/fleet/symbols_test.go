package fleet

import (
	"context"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk"
)

// recorder is a Supplier that keeps the symbols that it has returned, without using them.
type recorder struct {
	resolve.Supplier
	opened []resolve.Symbols
}

func (r *recorder) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s, tried, err := r.Supplier.Symbols(ctx, m)
	if s != nil {
		r.opened = append(r.opened, s)
	}
	return s, tried, err
}

// states has a letter for each of the symbols: o if it is open, c if it is closed.
func (r *recorder) states() (states string) {
	for _, s := range r.opened {
		if s.Share() {
			s.Close()
			states += "o"
		} else {
			states += "c"
		}
	}
	return states
}

// A Runner with a bound closes symbols that take more when the last dump that uses them is closed.
func TestRunnerMemory(t *testing.T) {
	core := testenv.Input(t, "walk-sources.core.gz")
	for _, c := range []struct {
		name   string
		memory int64
		want   []string // after two walks, after the first dump is closed, after a third walk, at the end
	}{
		{"no bound", 0, []string{"o", "o", "o", "c"}},
		{"room for all", 1 << 30, []string{"o", "o", "o", "c"}},
		{"room for none", 1, []string{"oo", "co", "coo", "ccc"}},
	} {
		binaries, err := supplier.NewBinaries([]string{testenv.Input(t, "walk-sources.elf")}, supplier.BinaryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{Supplier: binaries}
		b := &Runner{Symbols: &walk.SymbolSet{Symbols: r}, MaxMemory: c.memory}
		worker := b.NewWorker()
		begin := func() *Walked {
			t.Helper()
			w, err := worker.Walk(t.Context(), core, "core")
			if err != nil || w.Err != nil {
				t.Fatal(err, w.Err)
			}
			return w
		}
		check := func(at int) {
			t.Helper()
			if got := r.states(); got != c.want[at] {
				t.Errorf("%s: symbols are %s, want %s", c.name, got, c.want[at])
			}
		}
		first, second := begin(), begin()
		check(0)
		if err := first.Close(); err != nil {
			t.Error(err)
		}
		check(1)
		third := begin()
		check(2)
		for _, w := range []*Walked{second, third} {
			if name := w.Stacks[0].Frames[0].Function(); name == "" {
				t.Errorf("%s: no name", c.name)
			}
			w.Close()
		}
		b.Symbols.Close()
		check(3)
	}
}
