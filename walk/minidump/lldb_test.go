package minidump

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// TestOracleLLDB compares the registers of every thread of every dump with those that
// lldb reads.
func TestOracleLLDB(t *testing.T) {
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
			// Its contexts name no group of registers. lldb then reads none,
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
		// lldb takes the segments although the flags say that there are none.
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

var (
	liveThread = regexp.MustCompile(`thread #(\d+): tid = (\d+), (0x[0-9a-f]+)`)
	liveImage  = regexp.MustCompile(`^\[ *\d+\] ([0-9A-F-]+) (0x[0-9a-f]+) `)
)

// TestOracleLLDBWrites lets LLDB write a minidump of a crash, and compares it with what LLDB shows
// for the process itself.
func TestOracleLLDBWrites(t *testing.T) {
	testenv.Oracle(t)
	folder := t.TempDir()
	program, saved := filepath.Join(folder, "prog"), filepath.Join(folder, "a.dmp")
	if out, err := exec.Command(testenv.Tool(t, "gcc"), "-g", "-O1", "-pthread", "-Wl,--build-id", "-o", program, testenv.Input(t, "src", "threads.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	args := []string{"--no-lldbinit", "-b", "-o", "run", "-k", "process save-core --plugin-name=minidump --style=full " + saved,
		"-k", "thread list", "-k", "image list"}
	for _, thread := range []string{"1", "2"} {
		args = append(args, "-k", "thread select "+thread, "-k", "register read")
	}
	out, err := exec.Command(testenv.Tool(t, "lldb-22"), append(args, "-k", "quit", program)...).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "stop reason = signal SIGSEGV") {
		t.Fatalf("%v: %s", err, out)
	}
	data, err := os.ReadFile(saved)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d, err := Read(data, saved)
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	if d.Crash == nil || d.Reason() != "SIGSEGV" || d.Crash.Address != 0x18 || !d.Crash.HasAddress || len(d.Annotations) != 1 {
		t.Errorf("crash %+v, %v", d.Crash, d.Annotations)
	}
	l := liveLLDB{t: t, d: d, threads: map[string]*dump.Thread{}}
	for line := range strings.Lines(string(out)) {
		l.line(line)
	}
	t.Logf("%d registers, %d modules compared", l.registers, l.modules)
	if len(l.threads) != len(d.Threads) || l.registers < 40 || l.modules != len(d.Modules) {
		t.Errorf("%d threads, %d registers, %d modules compared:\n%s", len(l.threads), l.registers, l.modules, out)
	}
}

// liveLLDB checks what LLDB prints of a process.
type liveLLDB struct {
	t                  *testing.T
	d                  *dump.Dump
	threads            map[string]*dump.Thread // by LLDB's number
	thread             *dump.Thread
	registers, modules int
}

func (l *liveLLDB) line(line string) {
	if m := liveThread.FindStringSubmatch(line); m != nil {
		for i := range l.d.Threads {
			th := &l.d.Threads[i]
			if pc, _ := strconv.ParseUint(m[3], 0, 64); fmt.Sprint(th.ID) == m[2] && th.Context.PC() == pc {
				if l.threads[m[1]] = th; th.Stack.Size == 0 || l.d.ModuleAt(pc) < 0 {
					l.t.Errorf("thread %s: stack %+v, module %d", m[2], th.Stack, l.d.ModuleAt(pc))
				}
			}
		}
	}
	if m := lldbSelected.FindStringSubmatch(line); m != nil {
		l.thread = l.threads[m[1]]
	}
	if m := liveImage.FindStringSubmatch(line); m != nil {
		addr, _ := strconv.ParseUint(m[2], 0, 64)
		i := l.d.ModuleAt(addr)
		if id := strings.ToLower(strings.ReplaceAll(m[1], "-", "")); i < 0 || hex.EncodeToString(l.d.Modules[i].BuildID) != id {
			l.t.Errorf("module %d for %s", i, line)
		}
		l.modules++
	}
	m := lldbRegister.FindStringSubmatch(line)
	if m == nil || l.thread == nil || strings.HasSuffix(m[1], "_base") { // minidumps have no fs_base
		return
	}
	want, _ := strconv.ParseUint(m[2], 0, 64)
	if got, ok := l.thread.Context.Get("$" + m[1]); !ok || got != want {
		l.t.Errorf("thread %d: %s is %#x (known: %v), LLDB has %s", l.thread.ID, m[1], got, ok, m[2])
	}
	l.registers++
}
