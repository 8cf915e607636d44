package dump_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// scaleSeeds lists the objects of the large program, and their share of its .debug_info
// in percent.
var scaleSeeds = []struct {
	name    string
	percent int
	command string
}{
	{"cxx-gcc5", 25, "g++ -std=c++20 -g -gdwarf-5 -O2 -c templates.cc"},
	{"cxx-clang5", 15, "clang++-22 -std=c++20 -g -gdwarf-5 -O2 -c templates.cc"},
	{"cxx-clang4", 10, "clang++-22 -std=c++20 -g -gdwarf-4 -O2 -c templates.cc"},
	{"c-gcc5-main", 15, "gcc -std=gnu11 -g -gdwarf-5 -O2 -c program_main.c " + scaleTypes},
	{"c-gcc5-json", 15, "gcc -std=gnu11 -g -gdwarf-5 -O2 -c program_json.c " + scaleTypes},
	{"c-gcc4-json", 15, "gcc -std=gnu11 -g -gdwarf-4 -O3 -c program_json.c " + scaleTypes},
	{"c-clang5-json", 5, "clang-22 -std=gnu11 -g -gdwarf-5 -O3 -c program_json.c"},
}

// scaleTypes adds all types of large headers to a C unit, as in large programs: Linux's
// units have 74 KB of .debug_info each.
const scaleTypes = "-fno-eliminate-unused-debug-types -include elf.h -include linux/bpf.h -include linux/perf_event.h" +
	" -include linux/nl80211.h -include linux/ethtool.h -include linux/videodev2.h -include pthread.h -include signal.h"

// scaleHole makes the file larger than 4 GB, and addresses longer than 32 bits.
const scaleHole = 4<<30 + 12345<<12

// TestScale dumps a file of over 4 GB with SYMTOOL_SCALE megabytes of .debug_info, as
// requested by `make scale`.
func TestScale(t *testing.T) {
	megabytes, err := strconv.Atoi(os.Getenv("SYMTOOL_SCALE"))
	if err != nil || megabytes <= 0 {
		t.Skip("takes minutes and gigabytes: make scale sets SYMTOOL_SCALE to the megabytes of .debug_info")
	}
	dir := t.TempDir()
	if keep := os.Getenv("SYMTOOL_SCALE_DIR"); keep != "" {
		dir = keep
	}
	file := filepath.Join(dir, "large.elf")
	large := linkScale(t, dir, file, scaleHole, func(s *seed, percent int) int {
		return int(uint64(megabytes)<<20/100*uint64(percent)/s.bytes[".debug_info"]) + 1
	})
	info := large.sizes[".debug_info"]
	program := testenv.Symtool(t)
	out := map[int]string{}
	for _, jobs := range []int{1, 2} {
		out[jobs] = filepath.Join(dir, fmt.Sprint("j", jobs, ".sym"))
		r := runScale(t, program, jobs, file, out[jobs])
		t.Logf("-j %d: %.2f s, %.2f s of processors, %d MB of memory: %.1f %% of .debug_info",
			jobs, r.wall.Seconds(), r.cpu.Seconds(), r.memory>>20, 100*float64(r.memory)/float64(info))
		if r.memory > scaleMemory(info) {
			t.Errorf("-j %d: %d bytes of memory, want at most %d", jobs, r.memory, scaleMemory(info))
		}
	}
	if same, err := cli.SameContents(out[1], out[2]); err != nil || !same {
		t.Errorf("-j 1 and -j 2 do not write the same bytes (%v)", err)
	}
	file = filepath.Join(dir, "small.elf")
	small := linkScale(t, dir, file, 0, func(*seed, int) int { return 2 })
	runScale(t, program, 1, file, filepath.Join(dir, "small.sym"))
	compareCopies(t, large, small, out[1], filepath.Join(dir, "small.sym"))
}

// scaleMemory returns the memory that a dump may take: a quarter of .debug_info (21 to 23 %
// were measured). For a file that fits in memory the limit is higher, because collecting
// garbage less often is faster.
func scaleMemory(info uint64) int64 {
	const largeInfo = 512 << 20 // above this, dump limits its memory
	if info < largeInfo {
		return int64(info/5*2) + 96<<20
	}
	return int64(info / 4)
}

// linkScale builds a program of count copies of each seed.
func linkScale(t *testing.T, dir, file string, hole uint64, count func(s *seed, percent int) int) *link {
	start := time.Now()
	l := &link{hole: hole}
	for _, s := range scaleSeeds {
		object := filepath.Join(dir, s.name+".o")
		compileSeed(t, s.command, object)
		seed, err := openSeed(object, 0)
		if err != nil {
			t.Fatal(err)
		}
		seed.count = count(seed, s.percent)
		l.seeds = append(l.seeds, seed)
	}
	compiled := time.Since(start)
	var err error
	if l.out, err = os.Create(file); err != nil {
		t.Fatal(err)
	}
	defer l.out.Close()
	if err := l.run(2); err != nil {
		t.Fatal(err)
	}
	st, err := l.out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes, compiled in %v, linked in %v", file, st.Size(), compiled.Round(time.Second), (time.Since(start) - compiled).Round(time.Second))
	for _, name := range append(copied, ".debug_str", ".debug_line_str") {
		t.Logf("%-18s %5d MB", name, l.sizes[name]>>20)
	}
	return l
}

func compileSeed(t *testing.T, command, object string) {
	words := strings.Fields(command)
	if _, err := os.Stat(object); err == nil {
		return // left by an earlier run
	}
	src := testenv.Input(t, "src")
	cmd := exec.Command(testenv.Tool(t, words[0]), append(words[1:], "-w", "-ffile-prefix-map="+src+"=/src", "-o", object)...)
	cmd.Dir = src
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

type scaleRun struct {
	wall, cpu time.Duration
	memory    int64 // bytes at the peak
}

func runScale(t *testing.T, program string, jobs int, file, out string) (r scaleRun) {
	cmd := exec.Command(program, "dump", "-v", "-j", strconv.Itoa(jobs), "-o", out, file)
	start := time.Now()
	text, err := cmd.CombinedOutput()
	r.wall = time.Since(start)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("%s", text)
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	r.memory = usage.Maxrss << 10
	return r
}
