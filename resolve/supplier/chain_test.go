package supplier

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/resolvetest"
	"github.com/symtool/symtool/symfmt"
)

// supplierFunc implements Supplier.
type supplierFunc func(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error)

func (f supplierFunc) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	return f(ctx, m)
}

func testSymbols(t testing.TB, text string) resolve.Symbols {
	t.Helper()
	path := filepath.Join(testenv.WriteFiles(t, "a.sym", text), "a.sym")
	r, err := resolve.Open(context.Background(), path, resolve.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// The first Supplier with lines is used, otherwise the first with functions; the messages of the
// others are kept.
func TestChainOrder(t *testing.T) {
	full := testSymbols(t, resolvetest.SymbolFile("a", resolvetest.ID, "full"))
	second := testSymbols(t, resolvetest.SymbolFile("a", resolvetest.ID, "second"))
	plain := testSymbols(t, "MODULE Linux x86_64 "+resolvetest.ID+" a\nFUNC 1000 10 0 plain\n")
	bare := testSymbols(t, "MODULE Linux x86_64 "+resolvetest.ID+" a\nPUBLIC 1000 0 bare\n")
	says := func(r resolve.Symbols, tried string, err error) resolve.Supplier {
		return supplierFunc(func(context.Context, resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
			var places []symfmt.Tried
			if tried != "" {
				places = []symfmt.Tried{{Why: tried}}
			}
			if r != nil {
				r.Share() // the Chain closes it
			}
			return r, places, err
		})
	}
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		suppliers []resolve.Supplier
		want      resolvetest.Answer
	}{
		"none":              {nil, resolvetest.Answer{}},
		"nothing":           {[]resolve.Supplier{says(nil, "a", nil), says(nil, "b", nil)}, resolvetest.Answer{Tried: "a\nb"}},
		"first":             {[]resolve.Supplier{says(full, "", nil), says(second, "b", nil)}, resolvetest.Answer{Function: "full"}},
		"second":            {[]resolve.Supplier{says(nil, "a", nil), says(second, "", nil)}, resolvetest.Answer{Function: "second", Tried: "a"}},
		"bare, then full":   {[]resolve.Supplier{says(bare, "a", nil), says(full, "b", nil), says(second, "c", nil)}, resolvetest.Answer{Function: "full", Tried: "a\nb"}},
		"plain, then full":  {[]resolve.Supplier{says(plain, "a", nil), says(full, "b", nil), says(second, "c", nil)}, resolvetest.Answer{Function: "full", Tried: "a\nb"}},
		"bare, then plain":  {[]resolve.Supplier{says(bare, "a", nil), says(plain, "b", nil), says(bare, "c", nil)}, resolvetest.Answer{Function: "plain", Tried: "a\nb\nc"}},
		"bare only":         {[]resolve.Supplier{says(nil, "a", nil), says(bare, "b", nil), says(nil, "c", nil)}, resolvetest.Answer{Function: "bare", Tried: "a\nb\nc"}},
		"an error, and one": {[]resolve.Supplier{says(nil, "a", failed), says(full, "", nil)}, resolvetest.Answer{Function: "full", Tried: "a", Err: "failed"}},
		"errors":            {[]resolve.Supplier{says(nil, "a", failed), says(nil, "b", errors.New("other")), says(nil, "c", failed)}, resolvetest.Answer{Tried: "a\nb\nc", Err: "failed\nother"}},
	} {
		a := resolvetest.Ask(t, NewChain(c.suppliers...), resolve.Module{Name: "a"})
		a.Check(t, name, c.want)
		if a.Err != c.want.Err {
			t.Errorf("%s: %q", name, a.Err)
		}
	}
}

// Each module is looked for once, also one that is not found, and by several goroutines at once.
func TestChainRemembers(t *testing.T) {
	synctest.Test(t, testChainRemembers)
}

func testChainRemembers(t *testing.T) {
	full := testSymbols(t, resolvetest.SymbolFile("a", resolvetest.ID, "full"))
	var asked atomic.Int32
	c := NewChain(supplierFunc(func(_ context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
		asked.Add(1)
		time.Sleep(time.Second) // on the bubble's clock: the others ask in the meantime
		if m.Name == "none" {
			return nil, []symfmt.Tried{{Why: "tried"}}, errors.New("bad")
		}
		return full, nil, nil
	}))
	modules := []resolve.Module{{Name: "none"}, {Name: "a"}, {Name: "a", DebugID: resolvetest.ID}, {Name: "a", BuildID: []byte{1}}, {Name: "a", Path: "a"}}
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			m := modules[i%len(modules)]
			r, tried, err := c.Symbols(context.Background(), m)
			if m.Name == "none" {
				if r != nil || len(tried) != 1 || err == nil {
					t.Errorf("%v, %q, %v", r, tried, err)
				}
			} else if r != full || err != nil {
				t.Errorf("%v, %v", r, err)
			}
		})
	}
	wg.Wait()
	if n := int(asked.Load()); n != len(modules) {
		t.Errorf("asked %d times for %d modules", n, len(modules))
	}
}

// A cancelled call does not affect the others.
func TestChainCancelled(t *testing.T) {
	synctest.Test(t, testChainCancelled)
}

func testChainCancelled(t *testing.T) {
	full := testSymbols(t, resolvetest.SymbolFile("a", resolvetest.ID, "full"))
	begun := make(chan bool, 2)
	calls := 0
	c := NewChain(supplierFunc(func(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
		begun <- true
		if calls++; calls == 1 {
			<-ctx.Done()
			return nil, nil, context.Cause(ctx)
		}
		return full, nil, nil
	}))
	ctx, cancel := context.WithCancelCause(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, _, err := c.Symbols(ctx, resolve.Module{Name: "a"}); err == nil || err.Error() != "enough" {
			t.Error(err)
		}
	})
	<-begun
	waiting, stop := context.WithCancelCause(context.Background())
	stop(errors.New("too long"))
	if _, _, err := c.Symbols(waiting, resolve.Module{Name: "a"}); err == nil || err.Error() != "too long" {
		t.Error(err)
	}
	wg.Go(func() {
		if r, _, err := c.Symbols(context.Background(), resolve.Module{Name: "a"}); r != full || err != nil {
			t.Errorf("%v, %v", r, err)
		}
	})
	synctest.Wait()
	cancel(errors.New("enough"))
	wg.Wait()
	if r, _, err := c.Symbols(context.Background(), resolve.Module{Name: "a"}); r != full || err != nil || calls != 2 {
		t.Errorf("%v, %v after %d calls", r, err, calls)
	}
}

// A chain of real Suppliers: a file of another version, a folder with a damaged file, and
// a folder with the right one.
func TestChainOfFolders(t *testing.T) {
	file := filepath.Join(testenv.WriteFiles(t, "old.sym", resolvetest.SymbolFile("a", resolvetest.OtherID, "old")), "old.sym")
	damaged := testenv.WriteFiles(t, "a/"+resolvetest.ID+"/a.sym.gz", testenv.Gzip(t, resolvetest.SymbolFile("a", resolvetest.ID, "cut"))[:30])
	good := testenv.WriteFiles(t, "a/"+resolvetest.ID+"/a.sym", resolvetest.SymbolFile("a", resolvetest.ID, "found"))
	c := NewChain(newSymbols(t, file), newSymbols(t, t.TempDir()), newSymbols(t, damaged), newSymbols(t, good))
	a := resolvetest.Ask(t, c, resolve.Module{Name: "a", DebugID: resolvetest.ID})
	a.Check(t, "found", resolvetest.Answer{Function: "found", Tried: "old.sym: not used", Err: "old.sym: not used"})
	for _, want := range []string{"/a.sym.gz: ", "/a: no such file or directory", "/a.sym: no such file or directory"} {
		if !strings.Contains(a.Tried, want) {
			t.Errorf("missing %q in\n%s", want, a.Tried)
		}
	}
	// The answer is kept: the files are not read again.
	if err := os.RemoveAll(good); err != nil {
		t.Fatal(err)
	}
	resolvetest.Ask(t, c, resolve.Module{Name: "a", DebugID: resolvetest.ID}).Check(t, "again", resolvetest.Answer{Function: "found", Tried: "old.sym: not used", Err: "old.sym: not used"})
}

// Symbols that only a Chain with a budget uses are closed, the least recently requested first, and read again when
// they are requested again. Those in use stay, as do all without a budget.
func TestChainMemory(t *testing.T) {
	const modules = 10
	dir := t.TempDir()
	for i := range modules {
		testenv.WriteFile(t, filepath.Join(dir, moduleName(i), resolvetest.ID, moduleName(i)+".sym"), resolvetest.SymbolFile(moduleName(i), resolvetest.ID, "f"))
	}
	size := requested(t, NewChain(newSymbols(t, dir)), 0).Memory()
	for _, c := range []struct {
		name     string
		memory   int64
		use      int // module that stays in use, or -1
		requests []int
		want     int // number of files read
	}{
		{"no budget", 0, -1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10},
		{"room for all", modules * size, -1, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10},
		{"room for three", 3 * size, -1, []int{0, 1, 2, 0, 1, 2}, 3},
		{"least recently requested", 3 * size, -1, []int{0, 1, 2, 0, 3, 0, 2, 3, 1}, 5},
		{"room for none", 1, -1, []int{0, 1, 0, 1}, 4},
		{"in use", 1, 0, []int{0, 1, 0, 1, 0}, 2},
		{"one of several in use", 1, 0, []int{0, 1, 2, 0, 1, 0, 2}, 5},
	} {
		opened := 0
		s, err := NewSymbols(dir, func(ctx context.Context, path string) (resolve.Symbols, error) {
			opened++
			return resolve.Open(ctx, path, resolve.OpenOptions{})
		})
		if err != nil {
			t.Fatal(err)
		}
		chain := NewChain(s)
		chain.MaxMemory = c.memory
		var used resolve.Symbols
		for _, i := range c.requests {
			r := requested(t, chain, i)
			if i == c.use && used == nil {
				used = r
				continue
			}
			r.Close()
		}
		if opened != c.want {
			t.Errorf("%s: read %d files, want %d", c.name, opened, c.want)
		}
		if err := chain.Close(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if used != nil {
			if name := nameAt(t, used); name != "f" {
				t.Errorf("%s: %q after the Chain was closed", c.name, name)
			}
			used.Close()
			if used.Share() {
				t.Errorf("%s: open after its last user", c.name)
			}
		}
	}
}

func moduleName(i int) string { return string(rune('a' + i)) }

// requested returns the symbols of module i, which the caller must close.
func requested(t *testing.T, c *Chain, i int) resolve.Symbols {
	t.Helper()
	r, _, err := c.Symbols(t.Context(), resolve.Module{Name: moduleName(i), DebugID: resolvetest.ID})
	if r == nil || err != nil {
		t.Fatalf("%s: %v, %v", moduleName(i), r, err)
	}
	return r
}

// Symbols of suppliers that the Chain does not return are closed at once, the others when it is closed.
func TestChainCloses(t *testing.T) {
	text := func(kind string) string { return "MODULE Linux x86_64 " + resolvetest.ID + " a\n" + kind + "\n" }
	var opened []resolve.Symbols
	open := func(ctx context.Context, path string) (resolve.Symbols, error) {
		r, err := resolve.Open(ctx, path, resolve.OpenOptions{})
		opened = append(opened, r)
		return r, err
	}
	var all []resolve.Supplier
	for _, kind := range []string{"PUBLIC 1000 0 f", "FUNC 1000 10 0 f", "PUBLIC 1000 0 g"} {
		s, err := NewSymbols(testenv.WriteFiles(t, "a/"+resolvetest.ID+"/a.sym", text(kind)), open)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	chain := NewChain(all...)
	found := requested(t, chain, 0)
	found.Close()
	isOpen := func(r resolve.Symbols) bool {
		ok := r.Share()
		if ok {
			r.Close()
		}
		return ok
	}
	for i, want := range []bool{false, true, false} {
		if isOpen(opened[i]) != want {
			t.Errorf("symbols %d: open is %v", i, !want)
		}
	}
	chain.Close()
	if isOpen(found) {
		t.Error("open after Close")
	}
}

// Symbols that a user has closed too often are opened again.
func TestChainClosedTwice(t *testing.T) {
	dir := testenv.WriteFiles(t, "a.sym", resolvetest.SymbolFile("a", resolvetest.ID, "f"))
	opened := 0
	c := NewChain(supplierFunc(func(ctx context.Context, _ resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
		opened++
		r, err := resolve.Open(ctx, filepath.Join(dir, "a.sym"), resolve.OpenOptions{})
		return r, nil, err
	}))
	for range 2 {
		r, _, err := c.Symbols(t.Context(), resolve.Module{Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		r.Close() // the Chain's use
	}
	if opened != 2 {
		t.Errorf("opened %d times, want 2", opened)
	}
}
