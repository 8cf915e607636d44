package dumpfile_test

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

var (
	lldbThread = regexp.MustCompile(`thread #\d+: tid = (\d+), (0x[0-9a-f]+)`)
	lldbImage  = regexp.MustCompile(`^\[ *\d+\] ([0-9A-F-]+) (0x[0-9a-f]+) (\S+)`)
	lldbReg    = regexp.MustCompile(`^ +(r\w+|cs|ss|eip|esp|e[a-d]x|ebp|e[sd]i) = (0x[0-9a-f]+)`)
)

// LLDB reads a minidump that was converted from a core: threads, registers, modules
// with build-ids.
func TestOracleLLDB(t *testing.T) {
	testenv.Oracle(t)
	lldb := testenv.Tool(t, "lldb-22")
	threads, images, registers := 0, 0, 0
	for _, path := range walktest.SharedDumps(t) {
		if filepath.Base(path) != "core" || !strings.Contains(path, "crashes") && !strings.Contains(path, "x86") {
			continue // of the other CPUs, LLDB reads only ARM's contexts in minidumps of Linux
		}
		d := walktest.Opened(t, path)
		data, _ := walktest.Written(t, "minidump", d)
		out, err := exec.Command(lldb, "--no-lldbinit", "-b", "-o", "target create -c "+walktest.WriteFile(t, "x.dmp", data),
			"-o", "thread list", "-o", "image list", "-o", "register read").Output()
		if err != nil {
			t.Fatal(err)
		}
		ours := map[string]bool{}
		for _, thread := range d.Threads {
			ours[fmt.Sprintf("%d %#x", thread.ID, thread.Context.PC())] = true
		}
		for _, m := range lldbThread.FindAllStringSubmatch(string(out), -1) {
			pc, _ := strconv.ParseUint(m[2], 0, 64)
			if key := fmt.Sprintf("%s %#x", m[1], pc); !ours[key] {
				t.Errorf("%s: LLDB has thread %s", path, key)
			}
			threads++
		}
		for _, line := range strings.Split(string(out), "\n") {
			if m := lldbImage.FindStringSubmatch(line); m != nil {
				addr, _ := strconv.ParseUint(m[2], 0, 64)
				i := d.ModuleAt(addr)
				if id := strings.ToLower(strings.ReplaceAll(m[1], "-", "")); i < 0 || id != hex.EncodeToString(d.Modules[i].BuildID) {
					t.Errorf("%s: LLDB has %s", path, line)
				}
				images++
			}
			if m := lldbReg.FindStringSubmatch(line); m != nil {
				want, _ := strconv.ParseUint(m[2], 0, 64)
				if got, ok := d.Crash.Context.Get("$" + m[1]); ok && got != want {
					t.Errorf("%s: %s is %#x, LLDB has %#x", path, m[1], got, want)
				}
				registers++
			}
		}
	}
	t.Logf("%d threads, %d modules, %d registers", threads, images, registers)
	if threads < 14 || images < 70 || registers < 150 {
		t.Error("too few")
	}
}
