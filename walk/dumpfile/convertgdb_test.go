package dumpfile_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// notConverted matches lines of gdb about what the model cannot represent, with the reasons.
var notConverted = regexp.MustCompile(`^(k[0-7] ` + // masks of AVX-512, in the xstate
	`|orig_[a-z0-9]+ ` + // of the system call that a thread is in
	`|warning: |\[)`) // about notes of xstate; that threads are there

// gdbSays returns what gdb prints about a core besides backtraces, one line for each fact.
func gdbSays(t *testing.T, core, program string) (lines []string) {
	t.Helper()
	out := oracle.GDBCore(t, core, program, "thread apply all info registers", "info sharedlibrary", "info auxv", "info proc mappings",
		"print $_siginfo.si_signo", "print $_siginfo._sifields._sigfault.si_addr", "echo")
	thread := ""
	for _, line := range strings.Split(out, "\n") {
		if m := threadLine.FindStringSubmatch(line); m != nil {
			thread = m[1]
			continue
		}
		if line = strings.TrimSpace(line); line == "" {
			thread = ""
		} else if !notConverted.MatchString(line) {
			lines = append(lines, thread+"\t"+line)
		}
	}
	return lines
}

// statusLine matches the line in which gdb shows hi, lo and others beside the status
// register of MIPS, which belongs to the kernel and is not in the model.
var statusLine = regexp.MustCompile(`^\d+\t([0-9a-f]{16})( [0-9a-f]{16})+$`)

func tidyMIPS(facts map[string]int) {
	for line, n := range facts {
		m := statusLine.FindStringSubmatch(line)
		if m != nil && (m[1] == "0000000024800030" || m[1] == strings.Repeat("0", 16)) {
			delete(facts, line)
			facts[strings.Replace(line, m[1], "sr", 1)] += n
		}
	}
}

// signals returns the lines of $_siginfo.
func signals(facts map[string]int) (lines []string) {
	for line := range facts {
		if strings.Contains(line, "\t$") {
			lines = append(lines, line)
		}
	}
	return lines
}

// gdb prints the same about a core after conversion to a minidump and back: every register of every
// thread, libraries, the auxiliary vector, mappings, the signal.
func TestOracleFacts(t *testing.T) {
	testenv.Oracle(t)
	facts := 0
	for _, path := range walktest.SharedDumps(t) {
		if filepath.Base(path) != "core" || strings.Contains(path, "riscv64") { // which gdb 13 does not read
			continue
		}
		program := filepath.Join(filepath.Dir(path), "prog")
		minidump, _ := walktest.Written(t, "minidump", walktest.Opened(t, path))
		core, _ := walktest.Written(t, "core", walktest.Parsed(t, minidump))
		want, got := map[string]int{}, map[string]int{}
		for _, line := range gdbSays(t, path, program) {
			want[line]++
			facts++
		}
		for _, line := range gdbSays(t, walktest.WriteFile(t, "core", core), program) {
			got[line]++
		}
		tidyMIPS(want)
		tidyMIPS(got)
		if len(signals(want)) == 0 { // QEMU's and gdb's have no NT_SIGINFO: ours has the signal
			for _, line := range signals(got) {
				delete(got, line)
			}
		}
		for line, n := range want {
			if got[line] != n {
				t.Errorf("%s: gdb no longer prints %q", path, line)
			}
		}
		for line, n := range got {
			if want[line] != n {
				t.Errorf("%s: gdb now prints %q", path, line)
			}
		}
	}
	t.Logf("%d facts", facts)
	if facts < 1200 {
		t.Errorf("%d facts", facts)
	}
}
