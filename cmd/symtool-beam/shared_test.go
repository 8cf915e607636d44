package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/symtool/symtool/walk/fleet"
)

// all returns the names of all flags.
func (f *flags) all() []string {
	f.register(flag.NewFlagSet("", flag.ContinueOnError))
	return f.names
}

// walkShard does the same with a shard as Beam.
func walkShard(t *testing.T, ctx context.Context, f *walkFn, s Shard) (rows map[fleet.Module]fleet.Counts, crashes map[string]fleet.Crashes, all fleet.Totals, dead []Damage, err error) {
	t.Helper()
	rows, crashes = map[fleet.Module]fleet.Counts{}, map[string]fleet.Crashes{}
	err = f.ProcessElement(ctx, s,
		func(m fleet.Module, c fleet.Counts) { x := rows[m]; x.Add(c); rows[m] = x },
		func(name string, c fleet.Crashes) { x := crashes[name]; x.Add(c); crashes[name] = x },
		func(x fleet.Totals) { all.Add(x) },
		func(d Damage) { dead = append(dead, d) })
	return rows, crashes, all, dead, err
}

func newWalkFn(t *testing.T, c Config, names []string) (*walkFn, Shard) {
	t.Helper()
	f := &walkFn{Config: c, Dir: t.TempDir()}
	shards, err := writeManifest(context.Background(), f.Dir, names, len(names))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Setup(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Teardown(); err != nil {
			t.Error(err)
		}
	})
	return f, shards[0]
}

// TestRetry checks that a shard that is walked again, as after a failure, gives the same
// output, and that a shard that fails leaves nothing behind, not even in the symbols that
// other shards use.
func TestRetry(t *testing.T) {
	dumps, symbols := inputs(t)
	f, shard := newWalkFn(t, Config{Symbols: []string{symbols}, Jobs: 3}, dumps)
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the worker is taken away"))
	if _, _, _, _, err := walkShard(t, ended, f, shard); err == nil || !strings.Contains(err.Error(), "taken away") {
		t.Errorf("with a context that has ended: %v, want its cause", err)
	}
	if files := results(t, f.Dir); len(files) != 1 || f.shared.now.users != 0 {
		t.Errorf("%d files, %d users", len(files), f.shared.now.users)
	}
	var first any
	for range 2 {
		rows, crashes, all, dead, err := walkShard(t, context.Background(), f, shard)
		if err != nil {
			t.Fatal(err)
		}
		files := results(t, f.Dir)
		got := []any{rows, crashes, all, dead, files}
		if first == nil {
			first = got
		}
		if !reflect.DeepEqual(first, any(got)) || len(files) != 2 || all.Dumps != int64(len(dumps)) {
			t.Errorf("%d files, totals %+v", len(files), all)
		}
	}
	want := walkLines(t, []string{"--symbols", symbols}, dumps)
	if got := string(lines(t, f.Dir)); got != string(want) {
		t.Error(firstDifference(got, string(want)))
	}
	if f.shared.now.users != 0 {
		t.Errorf("%d dumps hold symbols", f.shared.now.users)
	}
}

// TestPanic checks that a dump whose walk panics is a dead letter, and that the others are
// walked.
func TestPanic(t *testing.T) {
	dumps, symbols := inputs(t)
	good := walkOne
	defer func() { walkOne = good }()
	walkOne = func(ctx context.Context, w *fleet.Worker, file, name string) (*fleet.Walked, error) {
		if name == dumps[1] {
			panic("a mistake of ours")
		}
		return good(ctx, w, file, name)
	}
	f, shard := newWalkFn(t, Config{Symbols: []string{symbols}, Jobs: 2}, dumps)
	_, _, all, dead, err := walkShard(t, context.Background(), f, shard)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(dead, func(d Damage) bool { return d.Failed })
	if all.Failed != 1 || i < 0 || dead[i].At != 2 || dead[i].Errors[0] != dumps[1]+": panic in the walk: a mistake of ours" {
		t.Errorf("totals %+v, dead letters %+v", all, dead)
	}
	if n := strings.Count(string(lines(t, f.Dir)), "\n"); n != len(dumps) {
		t.Errorf("%d lines of %d dumps", n, len(dumps))
	}
}

// TestSharedSymbols checks that the bundles of a process share the symbols. When too much
// memory is live, they get fresh symbols, and the old ones are closed after their last user.
func TestSharedSymbols(t *testing.T) {
	dumps, file := inputs(t)
	c := Config{Symbols: []string{file}, Jobs: 2, Memory: 100}
	a, shard := newWalkFn(t, c, dumps)
	b := &walkFn{Config: c, Dir: t.TempDir()}
	if err := b.Setup(); err != nil {
		t.Fatal(err)
	}
	if a.shared != b.shared || a.shared.users != 2 {
		t.Errorf("%d users of one, which is the same: %v", a.shared.users, a.shared == b.shared)
	}
	var mu sync.Mutex
	cycle := uint64(1)
	var sets []*symbols
	a.shared.live = func() (int64, uint64) {
		mu.Lock()
		defer mu.Unlock()
		cycle++
		sets = append(sets, a.shared.now)
		return 101, cycle
	}
	if _, _, all, _, err := walkShard(t, context.Background(), a, shard); err != nil || all.Dumps != int64(len(dumps)) {
		t.Fatalf("%+v: %v", all, err)
	}
	// Every other collection drops a set, since the collection after a drop does not count.
	if n := len(dumps) / 2; a.shared.dropped < n-1 || a.shared.dropped > n+1 {
		t.Errorf("dropped %d times, want about %d", a.shared.dropped, n)
	}
	for _, y := range sets {
		if y != a.shared.now && (y.users != 0 || !y.old || y.open != nil) {
			t.Errorf("a set with %d users and %d files is not closed", y.users, len(y.open))
		}
	}
	if err := b.Teardown(); err != nil || a.shared.users != 1 || b.Teardown() != nil {
		t.Errorf("%d users: %v", a.shared.users, err)
	}
}

// TestRemote checks that, with names in another file system, dumps are fetched, outputs are
// stored there, and no temporary file is left.
func TestRemote(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dumps, symbols := inputs(t)
	ctx := context.Background()
	for _, d := range dumps {
		err := writeWhole(ctx, "memfs://dumps/"+filepath.Base(d), func(w io.Writer) error {
			_, err := io.WriteString(w, read(t, d))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var stdout strings.Builder
	f := flags{config: Config{Symbols: []string{symbols}}, output: "memfs://out/x", shardSize: 5}
	status, err := f.run(ctx, []string{"memfs://dumps/*", "memfs://dumps/none"}, nil, &stdout)
	if err != nil || status != statusInput {
		t.Fatalf("status %d: %v", status, err)
	}
	files, err := listRemote(ctx, "memfs://out/x/*")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	var got strings.Builder
	for _, file := range files {
		if strings.Contains(file, "/lines-") {
			fs, err := filesystem.New(ctx, file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := filesystem.Read(ctx, fs, file)
			if err != nil {
				t.Fatal(err)
			}
			got.Write(text)
		}
	}
	// The command does not accept such names. The lines differ in nothing else.
	want := string(walkLines(t, []string{"--symbols", symbols}, dumps))
	want = strings.ReplaceAll(want, filepath.Dir(dumps[0])+"/", "memfs://dumps/")
	remote, missing := got.String(), ""
	for line := range strings.Lines(remote) {
		if strings.Contains(line, `"dump":"memfs://dumps/none"`) {
			missing = line
		}
	}
	if missing == "" || strings.Replace(remote, missing, "", 1) != want {
		t.Errorf("missing: %s, %s", missing, firstDifference(remote, want))
	}
	left, err := os.ReadDir(tmp)
	left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "beamloopbackworker-") }) // Beam's folders, which are empty
	if err != nil || len(left) != 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// TestTableForms checks that the tables have the same numbers in every form.
func TestTableForms(t *testing.T) {
	dumps, symbols := inputs(t)
	out, _ := beamWalk(t, flags{config: Config{Symbols: []string{symbols}}}, statusInput, dumps...)
	for _, name := range []string{"modules", "lacking-cfi"} {
		rows, err := csv.NewReader(strings.NewReader(read(t, filepath.Join(out, name+".csv")))).ReadAll()
		if err != nil || !slices.Equal(rows[0], columns) {
			t.Fatalf("%v: %v", rows, err)
		}
		i := 1
		for line := range strings.Lines(read(t, filepath.Join(out, name+".jsonl"))) {
			var r fleet.ModuleRow
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(fields(&r), rows[i]) {
				t.Errorf("%s: %q and %q", name, fields(&r), rows[i])
			}
			i++
		}
		if i != len(rows) || i < 2 {
			t.Errorf("%s: %d rows as JSON, want %d, as in the CSV", name, i-1, len(rows)-1)
		}
	}
}

// TestManifest checks that the manifest preserves names of any bytes, in shards of any size.
func TestManifest(t *testing.T) {
	names := []string{"\n", "\"", "\"a\"", "a b", "a\tb", "\x7f", "é", "\xff\xfe", "\\n", "x"}
	for size := 1; size <= len(names)+1; size++ {
		dir := t.TempDir()
		shards, err := writeManifest(context.Background(), dir, names, size)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, s := range shards {
			if s.Index != i || s.Of != len(shards) || s.First != len(got) {
				t.Errorf("shard %d: %+v", i, s)
			}
			some, err := s.names(context.Background(), dir)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, some...)
		}
		if !slices.Equal(got, names) {
			t.Errorf("shards of %d: %q", size, got)
		}
		shards[0].Count++
		if _, err := shards[0].names(context.Background(), dir); err == nil {
			t.Error("another manifest was taken")
		}
	}
}
