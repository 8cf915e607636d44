package minidump

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// TestLLDB compares the registers of every thread of every dump with those that
// lldb reads.
func TestLLDB(t *testing.T) {
	testenv.Oracle(t)
	if !testenv.OracleFull() {
		t.Skip("half a minute: runs with make oracle-full")
	}
	lldb := testenv.Tool(t, "lldb-22")
	data := testenv.Shared(t, "data")
	files, _ := filepath.Glob(filepath.Join(data, "minidumps", "*", "*.dmp"))
	more, _ := filepath.Glob(filepath.Join(data, "crashes", "*", "dump.dmp"))
	total := 0
	for _, file := range append(files, more...) {
		switch filepath.Base(file) {
		case "invalid-range.dmp":
			continue // lldb does not read it
		case "pipeline-inlines-macos-segv.dmp":
			// Its contexts name no group of registers. lldb then takes none,
			// minidump-stackwalk all, as we do: TestStackwalk compares these.
			continue
		}
		name, _ := filepath.Rel(data, file)
		total += compareLLDB(t, lldb, name, file)
	}
	t.Logf("%d registers of %d dumps compared", total, len(files)+len(more)-2)
}

var (
	lldbSelected = regexp.MustCompile(`^\(lldb\) thread select (\d+)`)
	lldbRegister = regexp.MustCompile(`^ +(\w+) = (0x[0-9a-f]+)`)
)

func compareLLDB(t *testing.T, lldb, name, file string) (compared int) {
	d := readDump(t, name)
	args := []string{"--no-lldbinit", "-b", "-c", file}
	for i := range d.Threads {
		args = append(args, "-o", fmt.Sprintf("thread select %d", i+1), "-o", "register read")
	}
	out, err := exec.Command(lldb, args...).CombinedOutput()
	if err != nil {
		t.Fatal(name, err)
	}
	thread := -1
	perThread := make([]int, len(d.Threads))
	for line := range strings.Lines(string(out)) {
		if m := lldbSelected.FindStringSubmatch(line); m != nil {
			thread, _ = strconv.Atoi(m[1])
			thread--
		}
		m := lldbRegister.FindStringSubmatch(line)
		if m == nil || thread < 0 || strings.HasSuffix(m[1], "_base") { // minidumps have no fs_base
			continue
		}
		c := d.Threads[thread].Context
		if thread == d.CrashedThread() {
			c = d.Crash.Context
		}
		got, ok := c.Get("$" + m[1])
		want, _ := strconv.ParseUint(m[2], 0, 64)
		// lldb takes the segments from where the flags say that there are none.
		if !ok && slices.Contains([]string{"ds", "es", "fs", "gs"}, m[1]) && c.Arch == arch.X86_64 {
			continue
		}
		if !ok || got != want {
			t.Errorf("%s, thread %d: %s is %#x (known: %v), lldb has %s", name, thread, m[1], got, ok, m[2])
		}
		perThread[thread]++
		compared++
	}
	if slices.Min(perThread) < 12 {
		t.Errorf("%s: %v registers of each thread", name, perThread)
	}
	return compared
}
