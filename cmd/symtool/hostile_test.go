package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// Limits on one run over a damaged file: memory as a multiple of the file's
// size beside what any run takes, and time. The time is far above what a run
// needs, so that a busy machine fails nothing.
const (
	hostileRatio = 4
	hostileBase  = 64 << 20
	hostileTime  = 20 * time.Second
)

// hostileInputs are the files that are damaged: ELF32 and 64, both byte orders,
// compressed sections, C, C++, Rust, DWARF 2 to 5. The program itself, in Go,
// is the large one.
var hostileInputs = []string{
	"gcc-dwarf2.elf", "cpu-i686.elf", "cpu-mips.elf", "cpu-s390x.elf", "cpu-thumb.elf", "clang-dwarf5.elf",
	"compressed-zlib.elf", "compressed-zstd.elf", "rust-v0.elf", "scopes-gcc5.elf", "lto-gcc.elf", "eh.elf",
}

// TestHostile runs the program over damaged variants of real files, each in a
// process of its own: SYMTOOL_HOSTILE_RUNS byte-flipped ones of each file, and
// one cut at each 1 %. No run may panic, hang, take too much memory or end with
// a status that is not in the table. `make hostile` calls it.
func TestHostile(t *testing.T) {
	runs, err := strconv.Atoi(os.Getenv("SYMTOOL_HOSTILE_RUNS"))
	if err != nil || runs <= 0 {
		t.Skip("takes minutes: make hostile sets SYMTOOL_HOSTILE_RUNS to the number of variants of each file")
	}
	program := testenv.Symtool(t)
	h := hostile{t: t, program: program, dir: t.TempDir(), slots: make(chan struct{}, 2)}
	for i, name := range hostileInputs {
		h.file(name, testenv.Input(t, name), runs, uint64(i))
	}
	h.file("symtool", program, max(runs/4, 1), 99)
	h.wg.Wait()
	t.Logf("%d runs; statuses %v; most memory %.1f MB, for a file of %.1f MB; longest %v",
		h.count, h.statuses, float64(h.peak)/(1<<20), float64(h.peakSize)/(1<<20), h.longest.Round(time.Millisecond))
}

// hostile is one call of TestHostile.
type hostile struct {
	t       *testing.T
	program string
	dir     string
	slots   chan struct{}
	wg      sync.WaitGroup

	mu             sync.Mutex
	count          int
	statuses       map[int]int
	peak, peakSize int64
	longest        time.Duration
}

// file runs all variants of one file. It never holds the file in memory: the
// kernel counts what this process once took to those that it starts.
func (h *hostile) file(name, path string, runs int, seed uint64) {
	info, err := os.Stat(path)
	if err != nil {
		h.t.Fatal(err)
	}
	size := info.Size()
	for percent := range int64(100) {
		h.variant(fmt.Sprintf("%s cut at %d%%", name, percent), path, func(f *os.File) error {
			return f.Truncate(size * percent / 100)
		})
	}
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range runs {
		seed := rng.Uint64()
		h.variant(fmt.Sprintf("%s with bytes changed, variant %d", name, i), path, func(f *os.File) error {
			return changeBytes(f, size, rand.New(rand.NewPCG(seed, 2)))
		})
	}
}

// changeBytes changes up to 16 bytes of a file.
func changeBytes(f *os.File, size int64, rng *rand.Rand) error {
	var b [1]byte
	for range 1 + rng.IntN(16) {
		at := rng.Int64N(size)
		if _, err := f.ReadAt(b[:], at); err != nil {
			return err
		}
		b[0] ^= byte(1 + rng.IntN(255))
		if _, err := f.WriteAt(b[:], at); err != nil {
			return err
		}
	}
	return nil
}

// variant starts one run.
func (h *hostile) variant(what, path string, damage func(*os.File) error) {
	h.slots <- struct{}{}
	h.wg.Go(func() {
		defer func() { <-h.slots }()
		if why := h.run(path, damage); why != "" {
			h.t.Errorf("%s: %s", what, why)
		}
	})
}

// damaged makes a damaged copy of a file.
func (h *hostile) damaged(path string, damage func(*os.File) error) (*os.File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	out, err := os.CreateTemp(h.dir, "damaged")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(out, in)
	return out, errors.Join(err, damage(out))
}

// run dumps a damaged copy of a file; it returns what is wrong.
func (h *hostile) run(path string, damage func(*os.File) error) string {
	file, err := h.damaged(path, damage)
	if err != nil {
		return err.Error()
	}
	defer os.Remove(file.Name())
	info, err := file.Stat()
	if err := errors.Join(err, file.Close()); err != nil {
		return err.Error()
	}
	size := info.Size()
	ctx, cancel := context.WithTimeout(context.Background(), hostileTime)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, h.program, "dump", "-v", "--debug-dir", h.dir, "-o", file.Name()+".sym", file.Name())
	cmd.Stderr = &stderr
	defer os.Remove(file.Name() + ".sym")
	start := time.Now()
	err = cmd.Run()
	took := time.Since(start)
	if cmd.ProcessState == nil {
		return err.Error()
	}
	status, memory := cmd.ProcessState.ExitCode(), peakMemory(cmd.ProcessState)
	h.note(status, memory, size, took)
	limit := hostileBase + hostileRatio*size
	switch text := stderr.String(); {
	case ctx.Err() != nil:
		return fmt.Sprintf("no end after %v", hostileTime)
	case status != statusOK && status != statusInput:
		return fmt.Sprintf("status %d: %.2000s", status, text)
	case strings.Contains(text, "internal error") || strings.Contains(text, "panic") || strings.Contains(text, "goroutine "):
		return fmt.Sprintf("a panic: %.2000s", text)
	case status == statusInput && text == "":
		return "status 3 without a message"
	case memory > limit:
		return fmt.Sprintf("%d bytes of memory for a file of %d, want at most %d", memory, size, limit)
	}
	return ""
}

// peakMemory is the largest resident size of an ended process, in bytes.
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
