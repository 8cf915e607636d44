package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk"
)

// What Runner.Render writes for a dump is returned with that dump, whichever dumps are walked
// concurrently. It is dropped if it is too long or Render fails.
func TestBatchRender(t *testing.T) {
	core := testenv.Input(t, "walk-sources.core.gz")
	long := bytes.Repeat([]byte{'x'}, maxRendered)
	for _, c := range []struct {
		name   string
		render func(w io.Writer, walked *Walked) error
		want   string // "-" for nil
	}{
		{"text", func(w io.Writer, walked *Walked) error {
			_, err := fmt.Fprintf(w, "%s has %d", walked.Path[len(walked.Path)-2:], len(walked.Stacks))
			return err
		}, "gz has 1"},
		{"longest", func(w io.Writer, _ *Walked) error { _, err := w.Write(long); return err }, string(long)},
		{"too long", func(w io.Writer, _ *Walked) error {
			w.Write(long)
			w.Write([]byte{'y'}) // the writer keeps the error
			w.Write(nil)
			return nil
		}, "-"},
		{"fails", func(io.Writer, *Walked) error { return errors.New("no") }, "-"},
	} {
		b := &Runner{Symbols: &walk.SymbolSet{}, Jobs: 2, Render: c.render}
		paths := []string{core, core, "no such file", core}
		place := 0
		err := b.Run(context.Background(), paths, func(w *Walked) error {
			got := "-"
			if w.Rendered != nil {
				got = string(w.Rendered)
			}
			if want := c.want; place == 2 && (w.Err == nil || w.Rendered != nil) || place != 2 && (w.Err != nil || got != want) {
				t.Errorf("%s: dump %d: %d bytes, error %v", c.name, place, len(w.Rendered), w.Err)
			}
			place++
			return nil
		})
		if err != nil || place != len(paths) {
			t.Errorf("%s: %d dumps, error %v", c.name, place, err)
		}
		b.Symbols.Close()
	}
}

// What was rendered for a dump is valid until the dump is closed, whatever is walked in between.
func TestRenderedStays(t *testing.T) {
	core := testenv.Input(t, "walk-sources.core.gz")
	b := &Runner{Symbols: &walk.SymbolSet{}, Render: func(w io.Writer, walked *Walked) error {
		_, err := io.WriteString(w, walked.Path)
		return err
	}}
	defer b.Symbols.Close()
	worker := b.NewWorker()
	var open []*Walked
	for i := range 20 {
		w, err := worker.Walk(context.Background(), core, fmt.Sprint("dump", i))
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, w)
		if i%3 == 0 {
			w.Close()
		}
	}
	for i, w := range open {
		want := fmt.Sprint("dump", i)
		if i%3 == 0 {
			want = ""
		}
		if string(w.Rendered) != want {
			t.Errorf("%q, want %q", w.Rendered, want)
		}
		w.Close()
	}
}
