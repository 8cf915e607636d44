package supplier

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

var errEnded = errors.New("not waited for")

// endingContext ends when it is asked for the nth time whether it has ended.
type endingContext struct {
	context.Context
	end  context.CancelCauseFunc
	left atomic.Int64
}

func endAfter(t *testing.T, n int) *endingContext {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &endingContext{Context: ctx, end: cancel}
	c.left.Store(int64(n))
	t.Cleanup(func() { cancel(nil) })
	return c
}

func (c *endingContext) step() {
	if c.left.Add(-1) < 0 {
		c.end(errEnded)
	}
}

func (c *endingContext) Err() error {
	c.step()
	return c.Context.Err()
}

func (c *endingContext) Done() <-chan struct{} {
	c.step()
	return c.Context.Done()
}

// questions are what reads a binary when it is first asked. Each returns its answer as text.
var questions = map[string]func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error){
	"Nearest": func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error) {
		var at resolve.Location
		found, err := l.Nearest(ctx, rva, &at)
		return fmt.Sprintf("%v %+v", found, at), err
	},
	"LineStart": func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error) {
		start, ok, err := l.LineStart(ctx, rva)
		return fmt.Sprintf("%#x %v", start, ok), err
	},
	"Rules": func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error) {
		rules, err := l.Rules(ctx, rva, cfi.NewNames(l.file.Arch))
		if rules == nil {
			return "none", err
		}
		return rules.Row.String(), err
	},
	"Source": func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error) {
		return fmt.Sprintf("%+v", l.Source(ctx, rva)), context.Cause(ctx)
	},
	"Declared": func(ctx context.Context, l *lazy, rva symfmt.RVA) (string, error) {
		file, line := l.Declared(ctx, rva)
		return fmt.Sprintf("%s:%d", file.Path, line), context.Cause(ctx)
	},
	"Detail": func(ctx context.Context, l *lazy, _ symfmt.RVA) (string, error) {
		return fmt.Sprint(l.Detail(ctx)), context.Cause(ctx)
	},
	"Last": func(ctx context.Context, l *lazy, _ symfmt.RVA) (string, error) {
		return fmt.Sprintf("%#x", l.Last(ctx)), context.Cause(ctx)
	},
	"HasRules": func(ctx context.Context, l *lazy, _ symfmt.RVA) (string, error) {
		return fmt.Sprint(l.HasRules(ctx)), context.Cause(ctx)
	},
}

// Wherever a context ends, the question ends with its error, and the next one has the whole answer.
func TestEndedQuestions(t *testing.T) {
	for _, name := range []string{"clang-dwarf5.elf", "split-gcc5.elf", "lto-clang.elf", "nodebug.elf"} {
		path := testenv.Input(t, name)
		read, err := dwarf2sym.ReadFile(t.Context(), path, dwarf2sym.Options{})
		if err != nil {
			t.Fatal(err)
		}
		asked := []symfmt.RVA{read.Extents.Code[0].RVA, read.Extents.Code[0].RVA + symfmt.RVA(read.Extents.Code[0].Size) - 1}
		if n := len(read.Module.Funcs); n > 0 {
			asked = append(asked, read.Module.Funcs[n/2].RVA)
		}
		for what, ask := range questions {
			ends := 0
			for _, rva := range asked {
				ends += endEverywhere(t, path, what, ask, rva)
			}
			if ends == 0 {
				t.Errorf("%s: %s never ends", name, what)
			}
		}
	}
}

// endEverywhere asks one question with contexts that end at each step, and returns the number of those that ended it.
func endEverywhere(t *testing.T, path, what string, ask func(context.Context, *lazy, symfmt.RVA) (string, error), rva symfmt.RVA) (ends int) {
	t.Helper()
	open := func() *lazy {
		set, o := openPair(t, path, "")
		l, err := openLazy(t.Context(), set, o)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	fresh := open()
	defer fresh.Close()
	want, err := ask(t.Context(), fresh, rva)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; n++ {
		l := open()
		got, err := ask(endAfter(t, n), l, rva)
		again, againErr := ask(t.Context(), l, rva)
		damage := l.Damage()
		l.Close()
		where := fmt.Sprintf("%s: %s of %#x, ended at step %d", filepath.Base(path), what, rva, n)
		switch {
		case againErr != nil || again != want:
			t.Fatalf("%s: then %s, %v; want %s", where, again, againErr, want)
		case fmt.Sprint(damage) != fmt.Sprint(fresh.Damage()):
			t.Fatalf("%s: problems %v, want %v", where, damage, fresh.Damage())
		case err == nil && got != want:
			t.Fatalf("%s: %s, want %s", where, got, want)
		case err != nil && !strings.Contains(err.Error(), errEnded.Error()):
			t.Fatalf("%s: error %v", where, err)
		case err == nil:
			return ends
		}
		ends++
	}
}
