package store_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// symtoolIn runs symtool in a folder, and kills it after the given time unless that is 0.
func symtoolIn(t *testing.T, dir string, kill time.Duration, args ...string) (out string, status int, killed bool) {
	t.Helper()
	c := exec.Command(testenv.Symtool(t), args...)
	c.Dir = dir
	var b strings.Builder
	c.Stdout, c.Stderr = &b, &b
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if kill > 0 {
		defer time.AfterFunc(kill, func() { _ = c.Process.Kill() }).Stop()
	}
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	ws := c.ProcessState.Sys().(syscall.WaitStatus)
	return b.String(), ws.ExitStatus(), ws.Signaled()
}

// TestStoreKilled kills the commands that write stores after increasing times (package store's
// TestKill does so at every step). Afterwards, the store verifies except for what gc removes, and
// running the same command again completes it.
func TestStoreKilled(t *testing.T) {
	dir := t.TempDir()
	binary, err := os.ReadFile(filepath.Join(testenv.Input(t), "gcc-dwarf5.elf"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "a.elf"), binary, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, status, _ := symtoolIn(t, dir, 0, "dump", "--store", "want", "a.elf"); status != 0 {
		t.Fatal(out)
	}
	for _, args := range [][]string{
		{"store", "add", "st", "want"}, {"dump", "--store", "st", "a.elf"}, {"convert", "--to-store", "st", "--layout", "breakpad", "want"},
	} {
		began := time.Now()
		symtoolIn(t, dir, 0, args...)
		full, kills := time.Since(began), 0
		tries := 25
		if testing.Short() {
			tries = 8
		}
		for i := 0; i < tries || kills < tries/5 && i < 20*tries; i++ {
			if err := os.RemoveAll(filepath.Join(dir, "st")); err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			if _, _, killed := symtoolIn(t, dir, full*time.Duration(i%tries+1)/time.Duration(tries), args...); killed {
				kills++
			} else { // the first run was slow
				full = min(full, time.Since(began))
			}
			storeIsTidy(t, dir)
		}
		if kills < tries/5 {
			t.Errorf("%q: only %d kills", args, kills)
		}
		if out, status, _ := symtoolIn(t, dir, 0, args...); status != 0 {
			t.Errorf("%q: %s", args, out)
		}
		if out, err := exec.Command("diff", "-r", filepath.Join(dir, "want"), filepath.Join(dir, "st")).CombinedOutput(); err != nil {
			t.Errorf("%q: %s", args, out)
		}
	}
}

// storeIsTidy fails the test if anything other than leftovers is wrong with the store st, or if
// anything is wrong after the leftovers are removed.
func storeIsTidy(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "st")); err != nil {
		return // it was killed before there was a store
	}
	out, _, _ := symtoolIn(t, dir, 0, "store", "verify", "--quiet", "st")
	for line := range strings.Lines(out) {
		if !strings.Contains(line, ": leftover: ") && !strings.Contains(line, ": empty: ") {
			t.Error(line)
		}
	}
	if out, status, _ := symtoolIn(t, dir, 0, "store", "gc", "st"); status != 0 {
		t.Error(out)
	}
	if out, status, _ := symtoolIn(t, dir, 0, "store", "verify", "--quiet", "st"); status != 0 {
		t.Error(out)
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "17": 17, "1K": 1 << 10, "3M": 3 << 20, "2G": 2 << 30, "1T": 1 << 40, "9223372036854775807": 1<<63 - 1} {
		if got, ok := cli.ParseSize(in); got != want || !ok {
			t.Errorf("%s: %d, %t, want %d", in, got, ok, want)
		}
	}
	for _, in := range []string{"K", "-1", "1k", "1.5M", "9223372036854775808", "8388608T"} {
		if got, ok := cli.ParseSize(in); ok {
			t.Errorf("%s: %d", in, got)
		}
	}
}
