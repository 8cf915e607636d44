package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// childVar makes this program work on a store until it is killed.
const childVar = "SYMTOOL_TEST_STORE"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		child(strings.Split(job, "|"))
		return
	}
	os.Exit(m.Run())
}

// child does a job: folder, work, compression, size of the text, number of the step at
// which it kills itself (0: never).
func child(job []string) {
	size, _ := strconv.Atoi(job[3])
	at, _ := strconv.Atoi(job[4])
	s, err := Create(job[0], Options{})
	if err != nil {
		panic(err)
	}
	steps := 0
	s.step = func(string) {
		if steps++; steps == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	text := symbols("lib.so", "ABC0", size)
	switch job[1] {
	case "add":
		var a *Addition
		if a, err = s.Add(bytes.NewReader(text), AddOptions{Compression: compressionNamed(job[2])}); err == nil {
			fmt.Println(a.Outcome)
		}
	case "replace":
		var p *Pending
		if p, err = s.Begin(); err == nil {
			if _, err = p.Write(text); err == nil {
				err = p.Replace(filepath.Join("lib.so", "ABC0", "lib.so.sym"))
			}
		}
	case "collect":
		_, err = s.Collect(context.Background(), Policy{KeepLast: 1, MaxSize: -1}, time.Now())
	}
	if err != nil {
		panic(err)
	}
}

func compressionNamed(name string) *Compression {
	for i := range Compressions {
		if Compressions[i].Name == name {
			return &Compressions[i]
		}
	}
	return nil
}

// symbols returns a symbol file of about size bytes.
func symbols(name, id string, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nINFO SIZE %d\n", id, name, size)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "PUBLIC %x 0 f%08x\n", 16*i+16, uint32(i)*2654435761)
	}
	return b.Bytes()
}

// start starts a child.
func start(t *testing.T, dir, work, compression string, size, at int) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%s|%d|%d", childVar, dir, work, compression, size, at))
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, &out
}

// killed reports whether a child was killed; it must not have failed.
func killed(t *testing.T, c *exec.Cmd, out *bytes.Buffer) bool {
	t.Helper()
	err := c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() && ws.Signal() == syscall.SIGKILL {
			return true
		}
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return false
}

// poll reads the symbol files of a store repeatedly: each must be complete.
func poll(t *testing.T, dir string, whole func(path string, text []byte) bool) (stop func() int64) {
	var seen atomic.Int64
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true // after one more round, so that there is at least one
			default:
			}
			paths, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*.sym*"))
			for _, path := range paths {
				text, err := os.ReadFile(path)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				}
				seen.Add(1)
				if err != nil || !whole(path, text) {
					t.Errorf("%s: a reader sees %d bytes, %v", path, len(text), err)
				}
			}
			runtime.Gosched()
		}
	})
	return func() int64 { close(done); wg.Wait(); return seen.Load() }
}

// findings returns the findings of Verify, as texts.
func findings(t *testing.T, dir string) (all []string) {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Verify(context.Background(), 1, time.Now())
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	for _, f := range r.Findings {
		all = append(all, f.Kind+" "+f.Path)
	}
	return all
}

// killCase is work that is killed at each of its steps.
type killCase struct {
	work, compression string
	before            []string // existing versions, the newest last
	stays             []string // files that must exist whenever it is killed
}

var killCases = []killCase{
	{work: "add"},
	{work: "add", compression: "gzip"},
	{work: "add", compression: "zstd", before: []string{"lib.so/AAA0"}, stays: []string{"lib.so/AAA0"}},
	{work: "add", before: []string{"lib.so/ABC0"}, stays: []string{"lib.so/ABC0"}},
	{work: "replace"},
	{work: "replace", before: []string{"lib.so/ABC0"}, stays: []string{"lib.so/ABC0"}},
	{work: "collect", before: []string{"lib.so/AAA0", "lib.so/AAB0", "b.so/A0", "b.so/B0"}, stays: []string{"lib.so/AAB0", "b.so/B0"}},
}

// TestKill kills writers and collectors at every step of their work, at least 200 times.
// Readers see complete files only; leftovers are found and collected.
func TestKill(t *testing.T) {
	want := 200
	if testing.Short() {
		want = 40
	}
	kills, served := 0, int64(0)
	for size := 1000; kills < want; size = size*3 + 7 {
		for _, k := range killCases {
			n, seen := k.run(t, size)
			kills += n
			served += seen
		}
		if size > 20e6 {
			t.Fatalf("only %d kills", kills)
		}
	}
	if served < int64(want) {
		t.Errorf("readers saw only %d files", served)
	}
	t.Logf("%d kills, readers saw %d whole files", kills, served)
}

// run kills at the first step, at the second, ... until the work ends by itself.
func (k killCase) run(t *testing.T, size int) (kills int, served int64) {
	for at := 1; ; at++ {
		dir := filepath.Join(t.TempDir(), "store")
		k.fill(t, dir, size)
		stop := poll(t, dir, func(path string, text []byte) bool { return k.whole(path, text, size) })
		c, out := start(t, dir, k.work, k.compression, size, at)
		dead := killed(t, c, out)
		served += stop()
		k.judge(t, dir, size, fmt.Sprintf("%s %s killed at step %d", k.work, k.compression, at))
		if !dead {
			return kills, served
		}
		kills++
	}
}

// fill makes the store that the child works on.
func (k killCase) fill(t *testing.T, dir string, size int) {
	t.Helper()
	s, err := Create(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, v := range k.before {
		name, id, _ := strings.Cut(v, "/")
		a, err := s.Add(bytes.NewReader(symbols(name, id, size)), AddOptions{})
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1e9+i), 0)
		if err := os.Chtimes(s.Path(a.Path), at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// whole reports whether a file is complete.
func (k killCase) whole(path string, got []byte, size int) bool {
	parts := strings.Split(filepath.ToSlash(path), "/")
	want := symbols(parts[len(parts)-3], parts[len(parts)-2], size)
	same, err := sameBytes(text(got), bytes.NewReader(want))
	return same && err == nil
}

// judge checks the store after a kill, and once more after Collect.
func (k killCase) judge(t *testing.T, dir string, size int, what string) {
	t.Helper()
	for _, f := range findings(t, dir) {
		if !strings.HasPrefix(f, "leftover ") && !strings.HasPrefix(f, "empty ") {
			t.Errorf("%s: %s", what, f)
		}
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if c, err := s.Collect(context.Background(), Policy{MaxSize: -1}, time.Now()); err != nil || len(c.Problems) > 0 || c.Versions > 0 {
		t.Errorf("%s: collecting: %v, %+v", what, err, c)
	}
	if left := findings(t, dir); len(left) > 0 {
		t.Errorf("%s: %q are left", what, left)
	}
	for _, v := range k.stays {
		paths, _ := filepath.Glob(filepath.Join(dir, v, "*"))
		if len(paths) != 1 {
			t.Errorf("%s: %s has %q", what, v, paths)
			continue
		}
		if got, err := os.ReadFile(paths[0]); err != nil || !k.whole(paths[0], got, size) {
			t.Errorf("%s: %s is damaged: %v", what, v, err)
		}
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	for _, path := range paths {
		if got, err := os.ReadFile(path); err != nil || !k.whole(path, got, size) {
			t.Errorf("%s: %s is damaged: %v", what, path, err)
		}
	}
}

// TestTwoProcesses lets several processes add one file at once: exactly one reports that it
// added the file.
func TestTwoProcesses(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		dir := filepath.Join(t.TempDir(), "store")
		stop := poll(t, dir, func(path string, text []byte) bool { return killCase{}.whole(path, text, 300e3) })
		compressed := []string{"", "gzip", "zstd", ""}
		cmds, outs := make([]*exec.Cmd, len(compressed)), make([]*bytes.Buffer, len(compressed))
		for i, how := range compressed {
			cmds[i], outs[i] = start(t, dir, "add", how, 300e3, 0)
		}
		counts := map[string]int{}
		for i := range cmds {
			if killed(t, cmds[i], outs[i]) {
				t.Fatal("killed")
			}
			counts[strings.TrimSpace(outs[i].String())]++
		}
		stop()
		if counts["added"] != 1 || counts["same"] != 3 {
			t.Errorf("round %d: %v", round, counts)
		}
		paths, _ := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
		if len(paths) != 1 {
			t.Errorf("round %d: %q", round, paths)
		}
		if left := findings(t, dir); len(left) > 0 {
			t.Errorf("round %d: %q", round, left)
		}
	}
}
