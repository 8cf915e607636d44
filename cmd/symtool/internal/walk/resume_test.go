package walk_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// manyDumps makes a folder of n dumps, some of them unreadable.
func manyDumps(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dumps")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	kinds := []string{"walk-sources.core.gz", "mini-linux.dmp", "crashes/stacks.core.gz"}
	for i := range n {
		target := testenv.Input(t, kinds[i%len(kinds)])
		if err := os.Symlink(target, filepath.Join(dir, fmt.Sprintf("%04d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "0010-damaged"), []byte("MDMP"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runStatus runs a command and returns its exit status.
func runStatus(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func resumeCommand(t *testing.T, out, dumps string) *exec.Cmd {
	return exec.Command(testenv.Symtool(t), "walk", "--hermetic", "--format", "jsonl", "--resume", "-o", out, dumps)
}

// TestResumeCut checks that --resume completes an output that is cut off anywhere, with
// nothing twice and nothing lost.
func TestResumeCut(t *testing.T) {
	dumps := manyDumps(t, 30)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	if got := runStatus(t, resumeCommand(t, out, dumps)); got != 3 {
		t.Fatalf("status %d", got)
	}
	whole := contents(t, out)
	r := rand.New(rand.NewPCG(1, 2))
	cuts := []int{0, 1, len(whole) - 1, len(whole), bytes.IndexByte(whole, '\n'), bytes.IndexByte(whole, '\n') + 1}
	for range 44 {
		cuts = append(cuts, r.IntN(len(whole)))
	}
	for _, n := range cuts {
		if err := os.WriteFile(out, whole[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if got := runStatus(t, resumeCommand(t, out, dumps)); got != 3 {
			t.Errorf("cut at %d: status %d", n, got)
		}
		if got := contents(t, out); !bytes.Equal(got, whole) {
			t.Errorf("cut at %d: %d bytes differ from %d", n, len(got), len(whole))
		}
	}
}

// TestResumeKilled kills and interrupts the program again and again while it writes.
func TestResumeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the program a hundred times")
	}
	dumps := manyDumps(t, 600)
	dir := t.TempDir()
	out, want := filepath.Join(dir, "out.jsonl"), filepath.Join(dir, "want.jsonl")
	runStatus(t, resumeCommand(t, want, dumps))
	whole := contents(t, want)
	kills, interrupts := 0, 0
	for before := int64(0); kills < 50; {
		cmd := resumeCommand(t, out, dumps)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		signal := os.Signal(os.Kill)
		if kills%5 == 4 {
			signal = syscall.SIGINT
		}
		size, over := waitGrown(t, out, before, ended)
		if over {
			break
		}
		if signal == os.Kill {
			kills++
		} else {
			kills, interrupts = kills+1, interrupts+1
		}
		_ = cmd.Process.Signal(signal) // it may have ended just now
		<-ended
		got := contents(t, out)
		if !bytes.HasPrefix(whole, got) {
			t.Fatalf("after %d kills: %d bytes are not the first ones", kills, len(got))
		}
		if signal != os.Kill && len(got) > 0 && got[len(got)-1] != '\n' {
			t.Errorf("an interrupt left part of a line")
		}
		before = max(size, int64(len(got)))
	}
	if got := runStatus(t, resumeCommand(t, out, dumps)); got != 3 {
		t.Errorf("status %d", got)
	}
	if got := contents(t, out); !bytes.Equal(got, whole) || kills == 0 {
		t.Errorf("after %d kills: %d bytes, want %d", kills, len(got), len(whole))
	}
	t.Logf("%d kills, %d of them by SIGINT", kills, interrupts)
}

// waitGrown waits until a file is longer than before, or until the program has ended,
// in which case over is true.
func waitGrown(t *testing.T, path string, before int64, ended chan error) (size int64, over bool) {
	testenv.Until(t, "a longer output", func() bool {
		if over = len(ended) > 0; over {
			return true
		}
		if st, err := os.Stat(path); err == nil {
			size = st.Size()
		}
		return size > before
	})
	return size, over
}
