package hostile

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/testenv"
)

// Limits for one run with a damaged file. The limit of memory is a multiple of the
// file's size, plus what any run takes. The limit of time is far above what a run
// needs, so that a busy machine does not fail the test.
const (
	hostileRatio = 4
	hostileBase  = 64 << 20
	hostileTime  = 20 * time.Second
)

// TestHostile runs every command over damaged variants of real files, each in a
// separate process: SYMTOOL_HOSTILE_RUNS variants of each file with changed bytes, a
// third as many with one bit flipped, and one truncated at each percent. No run may
// panic, hang, take too much memory, end with a status that is not in the table, fail
// without naming the file, leave anything except its output behind, or write anything
// that symtool itself cannot read. `make hostile` calls it; SYMTOOL_HOSTILE_KIND
// restricts it to subjects with that text in the name.
func TestHostile(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv("SYMTOOL_HOSTILE_RUNS"))
	if err != nil || runs <= 0 {
		t.Skip("takes minutes: make hostile sets SYMTOOL_HOSTILE_RUNS to the number of variants of each file")
	}
	program := testenv.Symtool(t)
	h := hostile{t: t, program: program, dir: t.TempDir(), whole: hostileWholes(t, program), slots: make(chan struct{}, 2)}
	for i, subject := range hostileSubjects {
		if !strings.Contains(subject.name, os.Getenv("SYMTOOL_HOSTILE_KIND")) {
			continue
		}
		for k, name := range subject.files {
			h.file(name, filepath.Join(h.whole, name), subject.commands, runs, uint64(100*i+k))
		}
	}
	if strings.Contains("program", os.Getenv("SYMTOOL_HOSTILE_KIND")) {
		h.file("symtool", program, []string{"dump -v --debug-dir . -o out.sym IN"}, max(runs/4, 1), 99)
	}
	h.wg.Wait()
	t.Logf("%d runs; statuses %v; most memory %.1f MB, for a file of %.1f MB; longest %v",
		h.count, h.statuses, float64(h.peak)/(1<<20), float64(h.peakSize)/(1<<20), h.longest.Round(time.Millisecond))
}

// hostile is one call of TestHostile.
type hostile struct {
	t       *testing.T
	program string
	dir     string // contains a folder for each run
	whole   string // folder of the files before they are damaged
	slots   chan struct{}
	wg      sync.WaitGroup

	mu             sync.Mutex
	count          int
	statuses       map[int]int
	peak, peakSize int64
	longest        time.Duration
}

// file runs all variants of one file, each through one of the commands in turn. It never
// holds a large file in memory: the kernel attributes this process's peak to the processes
// that it starts.
func (h *hostile) file(name, path string, commands []string, runs int, seed uint64) {
	info, err := os.Stat(path)
	if err != nil {
		h.t.Fatal(err)
	}
	size := info.Size()
	for percent := range int64(100) {
		h.variant(fmt.Sprintf("%s cut at %d%%", name, percent), path, commands[int(percent)%len(commands)], func(f *os.File) error {
			return f.Truncate(size * percent / 100)
		})
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range max(runs/3, 1) {
		bit := rng.Int64N(max(8*size, 1))
		h.variant(fmt.Sprintf("%s with bit %d flipped", name, bit), path, commands[i%len(commands)], func(f *os.File) error { return flipBit(f, bit) })
	}
	for i := range runs {
		seed := rng.Uint64()
		h.variant(fmt.Sprintf("%s with bytes changed, variant %d", name, i), path, commands[i%len(commands)], func(f *os.File) error {
			return changeBytes(f, size, rand.New(rand.NewPCG(seed, 2)))
		})
	}
}

// hostileNumbers lists limits of integer types, which replace offsets, sizes and counts.
var hostileNumbers = []uint64{0, 1, math.MaxInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32, math.MaxInt64, math.MaxUint64}

// flipBit flips one bit of a file, as faulty memory and disks do.
func flipBit(f *os.File, bit int64) error {
	var b [1]byte
	if _, err := f.ReadAt(b[:], bit/8); err != nil {
		return err
	}
	b[0] ^= 1 << (bit % 8)
	_, err := f.WriteAt(b[:], bit/8)
	return err
}

// changeBytes changes a file in up to 16 places, half of them in its first 512 bytes, where
// headers are. It writes random bytes or one of hostileNumbers.
func changeBytes(f *os.File, size int64, rng *rand.Rand) error {
	var b [8]byte
	for range 1 + rng.IntN(16) {
		at := rng.Int64N(size)
		if rng.IntN(2) == 0 {
			at = rng.Int64N(min(size, 512))
		}
		changed := b[:min(int64(1)<<rng.IntN(4), size-at)]
		binary.LittleEndian.PutUint64(b[:], rng.Uint64())
		if rng.IntN(2) == 0 {
			binary.LittleEndian.PutUint64(b[:], hostileNumbers[rng.IntN(len(hostileNumbers))])
		}
		if _, err := f.WriteAt(changed, at); err != nil {
			return err
		}
	}
	return nil
}

// variant starts one run.
func (h *hostile) variant(what, path, command string, damage func(*os.File) error) {
	h.slots <- struct{}{}
	h.wg.Go(func() {
		defer func() { <-h.slots }()
		if why := h.run(path, command, damage); why != "" {
			h.t.Errorf("%s: symtool %s: %s", what, command, why)
		}
	})
}

// damaged makes a damaged copy of a file.
func damaged(path, to string, damage func(*os.File) error) (size int64, err error) {
	in, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	if _, err := io.Copy(out, in); err != nil {
		return 0, err
	}
	if err := damage(out); err != nil {
		return 0, err
	}
	info, err := out.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// run runs a command over a damaged copy of a file, and returns what is wrong, or "". The
// command has a folder of its own. A command after && reads the output.
func (h *hostile) run(path, command string, damage func(*os.File) error) string {
	dir, err := os.MkdirTemp(h.dir, "")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	name := filepath.Base(path)
	size, err := damaged(path, filepath.Join(dir, name), damage)
	if err != nil {
		return err.Error()
	}
	if of, isIndex := strings.CutSuffix(name, ".idx"); isIndex { // an index is used only beside its file
		if err := os.Link(strings.TrimSuffix(path, ".idx"), filepath.Join(dir, of)); err != nil {
			return err.Error()
		}
	}
	command, reader, _ := strings.Cut(command, " && ")
	place := strings.NewReplacer("IN", name, "WHOLE", path, "FILES", h.whole)
	status, why := h.command(dir, name, size, strings.Fields(place.Replace(command)))
	if why == "" {
		why = leftBehind(dir, strings.TrimSuffix(name, ".idx"))
	}
	if why == "" && reader != "" && status <= cli.StatusFindings {
		if status, why = h.command(dir, name, size, strings.Fields(place.Replace(reader))); why == "" && status > cli.StatusFindings {
			why = "cannot be read"
		}
		if why != "" {
			why = fmt.Sprintf("what it wrote, by symtool %s: status %d: %s", reader, status, why)
		}
	}
	return why
}

// leftBehind returns what is in a folder in addition to the input and the outputs.
func leftBehind(dir, input string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err.Error()
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), input) && !strings.HasPrefix(e.Name(), "out") {
			return "left behind: " + e.Name()
		}
	}
	return ""
}

// command runs symtool in a folder. It returns the status, and what is wrong or "".
func (h *hostile) command(dir, name string, size int64, args []string) (status int, why string) {
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	var stderr bytes.Buffer
	stdout := beginning{most: 1 << 16}
	cmd := exec.CommandContext(ctx, h.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "DEBUGINFOD_URLS=")
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		return 0, err.Error()
	}
	status, memory := cmd.ProcessState.ExitCode(), peakMemory(cmd.ProcessState)
	h.note(status, memory, size, took)
	limit := hostileBase + hostileRatio*size
	switch text := stderr.String(); {
	case ctx.Err() != nil:
		return status, fmt.Sprintf("no end after %v", hostileTime)
	case status != cli.StatusOK && status != cli.StatusFindings && status != cli.StatusInput:
		return status, fmt.Sprintf("status %d: %.2000s", status, text)
	case strings.Contains(text, "internal error") || strings.Contains(text, "panic") || strings.Contains(text, "goroutine "):
		return status, fmt.Sprintf("a panic: %.2000s", text)
	case status == cli.StatusInput && !strings.Contains(text, name) && !strings.Contains(stdout.String(), name): // lint reports damage among its findings
		return status, fmt.Sprintf("status 3, and no message has the name of the file: %.2000s", text)
	case memory > limit:
		return status, fmt.Sprintf("%d bytes of memory for a file of %d, want at most %d", memory, size, limit)
	}
	return status, ""
}

// beginning keeps the first bytes that are written to it.
type beginning struct {
	bytes.Buffer
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), b.most-b.Len())])
	return len(p), nil
}

// peakMemory returns the largest resident size of an ended process, in bytes.
func peakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}

func (h *hostile) note(status int, memory, size int64, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	if h.statuses == nil {
		h.statuses = make(map[int]int)
	}
	h.statuses[status]++
	if memory > h.peak {
		h.peak, h.peakSize = memory, size
	}
	h.longest = max(h.longest, took)
}
