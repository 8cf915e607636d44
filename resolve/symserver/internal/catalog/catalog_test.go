package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// names returns what a list has, as text.
func names(list []*Module) (all []string) {
	for _, m := range list {
		var ids []string
		for _, v := range m.Versions {
			ids = append(ids, v.ID)
		}
		all = append(all, m.Name+":"+strings.Join(ids, ","))
	}
	return all
}

// TestCatalog reads two stores, and again when the list is old or something was added.
func TestCatalog(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	write(t, filepath.Join(one, "b.so", "AB1", "b.so.sym"), "x")
	write(t, filepath.Join(two, "b.so", "AB2", "b.so.sym.zst"), "xy")
	write(t, filepath.Join(two, "A.so", "AB3", "A.so.sym"), "x")
	write(t, filepath.Join(two, "README"), "x")
	old := time.Unix(1e9, 0)
	if err := os.Chtimes(filepath.Join(one, "b.so", "AB1", "b.so.sym"), old, old); err != nil {
		t.Fatal(err)
	}
	c := New([]string{one, two})
	now := time.Now()
	c.now = func() time.Time { return now }
	ctx := context.Background()
	expect := func(why string, want ...string) {
		t.Helper()
		list, state := c.Modules(ctx)
		if got := names(list); !slices.Equal(got, want) || state.Versions != len(strings.Split(strings.Join(want, ","), ",")) || len(state.Problems) > 0 {
			t.Errorf("%s: %v, %+v, want %v", why, got, state, want)
		}
	}
	expect("first", "A.so:AB3", "b.so:AB2,AB1")
	write(t, filepath.Join(one, "c.so", "AB4", "c.so.sym"), "x")
	expect("not old", "A.so:AB3", "b.so:AB2,AB1")
	now = now.Add(minAge + 1)
	expect("old", "A.so:AB3", "b.so:AB2,AB1", "c.so:AB4")
	write(t, filepath.Join(one, "d.so", "AB5", "d.so.sym"), "x")
	c.Changed()
	now = now.Add(1)
	expect("changed", "A.so:AB3", "b.so:AB2,AB1", "c.so:AB4", "d.so:AB5")
	if err := os.RemoveAll(two); err != nil {
		t.Fatal(err)
	}
	now = now.Add(minAge + 1)
	if list, state := c.Modules(ctx); len(list) != 3 || len(state.Problems) != 1 {
		t.Errorf("without a store: %v, problems %q", names(list), state.Problems)
	}
}

// TestCatalogWaits checks that a list that is being read does not hold up callers that
// do not wait.
func TestCatalogWaits(t *testing.T) {
	c := New([]string{t.TempDir()})
	c.done = make(chan struct{}) // as if it were being read
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if list, state := c.Modules(ctx); list != nil || !state.Read.IsZero() {
		t.Errorf("got %v, %+v", list, state)
	}
}

// TestMissed counts requests in a list that is full.
func TestMissed(t *testing.T) {
	var l Missed
	at := time.Unix(1e9, 0)
	for range 5 {
		l.Add("wanted.so", "ab", at)
	}
	for i := range 3 * maxMissed {
		l.Add(fmt.Sprint(i), "AB", at.Add(time.Duration(i)))
	}
	l.Add("wanted.so", "AB", at.Add(time.Hour))
	list := l.List()
	if len(list) != maxMissed || list[0] != (Miss{"wanted.so", "AB", 6, at, at.Add(time.Hour)}) {
		t.Errorf("%d modules, first %+v", len(list), list[0])
	}
	l.Found("wanted.so", "aB")
	if got := l.List()[0].Name; got == "wanted.so" {
		t.Error("wanted.so is still missed")
	}
}

// TestMeasureFile measures code that overlaps, and files that cannot be read.
func TestMeasureFile(t *testing.T) {
	for text, want := range map[string]Measure{
		"MODULE Linux x86_64 AB0 a\nFUNC 10 10 0 f\nFUNC 18 10 0 g\nSTACK CFI INIT 0 14 .cfa: 8\nSTACK CFI INIT 10 8 .cfa: 8\n": {OS: "Linux", Arch: "x86_64", Funcs: 2, Unwinds: 2, Code: 24, Unwound: 8},
		"MODULE windows x86 AB0 a.pdb\nFUNC 10 10 0 f\nSTACK WIN 4 10 4 0 0 0 0 0 0 0 0\n":                                      {OS: "windows", Arch: "x86", Funcs: 1, Unwinds: 1, Code: 16, Unwound: 4},
		"": {},
	} {
		m, err := MeasureFile(strings.NewReader(text))
		if err != nil || m.Code != want.Code || m.Unwound != want.Unwound || m.Funcs != want.Funcs || m.Problems != 0 || m.OS != want.OS {
			t.Errorf("%q: got %+v, %v, want %+v", text, m, err, want)
		}
	}
	if _, err := MeasureFile(strings.NewReader("\x1f\x8bdamaged")); err == nil {
		t.Error("no error for damaged gzip")
	}
}
