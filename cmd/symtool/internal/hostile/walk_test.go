package hostile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// walkAllocated is the maximum number of bytes that a walk of a damaged fixture, of up to 270 KB, may
// allocate in total. The undamaged fixtures take 2 MB.
const walkAllocated = 64 << 20

// walkDumps lists the fixtures that are damaged and walked: both formats, both byte orders, 32 and 64
// bits. The first one has symbols.
var walkDumps = []string{
	"walk-sources.core.gz", "mini-linux.dmp", "mini-linux-be.dmp", "mini-windows.dmp", "mini-hostile.dmp",
	"qemu-mipsn32.core.gz", "qemu-ppc.core.gz", "qemu-ppc64.core.gz", "qemu-s390x.core.gz", "qemu-mips.core.gz",
}

// walkSymbols returns the symbol file of the program that crashed.
func walkSymbols(t *testing.T) []byte {
	t.Helper()
	return testenv.ReadFile(t, testenv.Root(t), "golden", "dwarf2sym", "walk-sources.sym")
}

// damager damages files. It seldom changes zeros, because most of a core is zeros, where damage has no
// effect.
type damager struct{ *rand.Rand }

func (d damager) bytes(data []byte) []byte {
	data = slices.Clone(data)
	switch d.IntN(8) {
	case 0:
		return data[:d.IntN(len(data))]
	case 1: // all bits one, or all zero
		at := d.place(data)
		fill := []byte{0, 0xff}[d.IntN(2)]
		for i := at; i < min(at+1<<d.IntN(4), len(data)); i++ {
			data[i] = fill
		}
	}
	for range 1 + d.IntN(16) {
		data[d.place(data)] ^= byte(1 + d.IntN(255))
	}
	return data
}

func (d damager) place(data []byte) (at int) {
	for range 40 {
		if at = d.IntN(len(data)); data[at] != 0 {
			break
		}
	}
	return at
}

// lines damages bytes or whole records of a symbol file, preferably STACK CFI records.
func (d damager) lines(text []byte) []byte {
	if d.IntN(3) == 0 {
		return d.bytes(text)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for range 1 + d.IntN(8) {
		i, k := d.IntN(len(lines)), d.IntN(len(lines))
		switch d.IntN(5) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] = lines[k]
		case 2:
			lines[i], lines[k] = lines[k], lines[i]
		case 3:
			lines[i] = strings.Replace(lines[i], "16", []string{"0", "-16", "ffffffffffffffff", "9223372036854775807"}[d.IntN(4)], 1)
		case 4:
			lines[i] = strings.Replace(lines[i], []string{"$rbp", "$rsp", "+", "^"}[d.IntN(4)], []string{".cfa", ".ra", "^ ^", "/ 0", "@"}[d.IntN(5)], 1)
		}
	}
	return []byte(strings.Join(lines, ""))
}

// walked is the result of a call of walk.
type walked struct {
	status         int
	stdout, stderr string
	took           time.Duration
	allocated      uint64 // bytes allocated in total
}

func callWalk(args ...string) walked {
	var stdout, stderr bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	watch := testenv.StartWatch()
	status := app.Run(context.Background(), append([]string{"symtool", "walk"}, args...), nil, &stdout, &stderr)
	took := watch.Took()
	runtime.ReadMemStats(&after)
	return walked{status, stdout.String(), stderr.String(), took, after.TotalAlloc - before.TotalAlloc}
}

// wrong returns what is wrong with a call, whatever the input. If output is set, there must be a line
// of JSON.
func (w *walked) wrong(output bool) string {
	switch {
	case w.status != cli.StatusOK && w.status != cli.StatusFindings && w.status != cli.StatusInput:
		return fmt.Sprintf("status %d", w.status)
	case strings.Contains(w.stderr, "panic") || strings.Contains(w.stderr, "goroutine "):
		return "a panic"
	case w.took > hostileTime:
		return fmt.Sprintf("it took %v", w.took)
	case w.allocated > walkAllocated:
		return fmt.Sprintf("it allocated %d bytes", w.allocated)
	case w.status == cli.StatusInput && w.stderr == "":
		return "status 3 without a message"
	case w.status == cli.StatusFindings && !strings.Contains(w.stdout, `"holds":false`):
		return "status 1 with a verdict that the symbols hold"
	case w.status == cli.StatusOK && strings.Contains(w.stdout, `"holds":false`):
		return "status 0 with a verdict that the symbols do not hold"
	case output != (w.stdout != ""):
		return fmt.Sprintf("%d bytes of output", len(w.stdout))
	case w.stdout != "" && !strings.HasSuffix(w.stdout, "\n"):
		return "a line without its end"
	}
	for line := range strings.Lines(w.stdout) {
		if !json.Valid([]byte(line)) {
			return fmt.Sprintf("not JSON: %.200s", line)
		}
	}
	if strings.ContainsFunc(w.stdout+w.stderr, func(r rune) bool { return r != '\n' && (r < 0x20 || 0x7f <= r && r < 0xa0) }) {
		return "a control character"
	}
	return ""
}

// hostileRuns returns the number of variants: 20 times SYMTOOL_HOSTILE_RUNS, which counts runs in
// separate processes, or 500 if it is not set.
func hostileRuns(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SYMTOOL_HOSTILE_RUNS")
	if text == "" {
		return 500
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return max(20*n, 500)
}

// TestWalkHostile walks damaged variants of dumps with damaged variants of symbols and,
// sometimes, of the binary.
func TestWalkHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("many dumps, one after the other")
	}
	dir := t.TempDir()
	dumpPath, symPath, elfPath := filepath.Join(dir, "dump"), filepath.Join(dir, "sym"), filepath.Join(dir, "walk-sources.elf")
	var dumps [][]byte
	for _, name := range walkDumps {
		dumps = append(dumps, testenv.PlainInput(t, name))
	}
	symbols, binary := walkSymbols(t), testenv.PlainInput(t, "walk-sources.elf")
	statuses, frames, longest, most := map[int]int{}, 0, time.Duration(0), uint64(0)
	for i := range hostileRuns(t) {
		d := damager{rand.New(rand.NewPCG(uint64(i), 7))}
		// Half of the variants have symbols; a third of these have an undamaged dump.
		data, sym, file := dumps[0], symbols, binary
		if i%2 == 1 {
			data = dumps[i/2%len(dumps)]
		}
		damageDump := i%2 == 1 || i%3 != 0
		if damageDump {
			data = d.bytes(data)
		}
		if !damageDump || d.IntN(2) == 0 {
			sym = d.lines(sym)
		}
		if d.IntN(2) == 0 {
			file = d.bytes(file)
		}
		testenv.WriteFile(t, dumpPath, data)
		testenv.WriteFile(t, symPath, sym)
		args := []string{"--verify", "--format", "jsonl", "--symbols", symPath}
		if d.IntN(2) == 0 {
			testenv.WriteFile(t, elfPath, file)
			args = append(args, "--binaries", dir)
		}
		w := callWalk(append(args, dumpPath)...)
		os.Remove(elfPath)
		// A malformed symbol file is reported before any dump is walked.
		refused := w.status == cli.StatusInput && strings.Contains(w.stderr, symPath+": not a symbol file")
		if why := w.wrong(!refused); why != "" {
			t.Errorf("variant %d, %s: %s\n%.2000s", i, strings.Join(args, " "), why, w.stderr)
		}
		statuses[w.status]++
		frames += strings.Count(w.stdout, `"function_offset"`)
		longest, most = max(longest, w.took), max(most, w.allocated)
	}
	t.Logf("statuses %v, %d frames, longest %v, most allocated %d KB", statuses, frames, longest.Round(time.Millisecond), most>>10)
	for _, status := range []int{cli.StatusOK, cli.StatusFindings, cli.StatusInput} {
		if statuses[status] == 0 {
			t.Errorf("no variant ended with status %d: the damage has no effect", status)
		}
	}
}

// TestWalkJobs walks 40 dumps, some of them damaged, with one and with four jobs, twice each. The
// output must have the same bytes.
func TestWalkJobs(t *testing.T) {
	dir := t.TempDir()
	sym := filepath.Join(dir, "sym")
	testenv.WriteFile(t, sym, walkSymbols(t))
	var dumps []string
	for i := range 40 {
		name := walkDumps[i%len(walkDumps)]
		if i%4 == 3 {
			name = walkDumps[0]
		}
		data := testenv.PlainInput(t, name)
		if i >= 10 && i%2 == 0 {
			data = damager{rand.New(rand.NewPCG(uint64(i), 9))}.bytes(data)
		}
		path := filepath.Join(dir, fmt.Sprintf("%02d.dump", i))
		testenv.WriteFile(t, path, data)
		dumps = append(dumps, path)
	}
	for _, args := range [][]string{
		{"--format", "jsonl", "--verify", "--registers"},
		{"--verify", "--trace", "--stack-bytes", "--verbose"},
		{"--symbols-b", sym, "--techniques", "frame-pointer,scan"},
	} {
		args = append(args, "--symbols", sym)
		want := callWalk(append(append(args, "-j", "1"), dumps...)...)
		if want.status != cli.StatusInput || len(want.stdout) < 1000 || want.stderr == "" {
			t.Fatalf("%q: status %d, %d bytes, %s", args, want.status, len(want.stdout), want.stderr)
		}
		for _, jobs := range []string{"4", "1", "4"} {
			got := callWalk(append(append(args, "-j", jobs), dumps...)...)
			if got.status != want.status || got.stdout != want.stdout || got.stderr != want.stderr {
				t.Errorf("%q: output of -j %s differs from that of -j 1: status %d and %d, %s", args, jobs, got.status, want.status,
					firstDifference(got.stdout+got.stderr, want.stdout+want.stderr))
			}
		}
	}
}

// firstDifference returns the parts of two texts where they first differ.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("at byte %d: %q and %q", i, a[from:min(len(a), i+60)], b[from:min(len(b), i+60)])
}
