package main

import (
	"os"
	"runtime/debug"
	"sync"

	"github.com/symtool/symtool/internal/elfobj"
)

// GOGC for a program that runs for a second: most of what it allocates lives
// until the output is written, and a collection finds little. On a vmlinux 200
// in place of Go's 100 takes a tenth less time and a tenth more memory (README,
// comparison).
const collectorPercent = 200

// Of a file with gigabytes memory is what runs out first.
const (
	largeInfo = 512 << 20 // bytes of .debug_info

	// The soft limit of memory for a large file, in percent of its .debug_info.
	// Near it memory that is free goes back to the system, and collections come
	// more often; the runtime lets them take no more than half of the time. What
	// lives takes 18 at most (make scale). A smaller GOGC beside it made collections
	// take half of all time.
	limitPercent = 20
)

// lintCollectorPercent is GOGC for lint. Of a symbol file alone little dies, and any
// goal does; with --binary, 100 in place of 200 takes 92 MB for a kernel in place of
// 109, and no more time.
const lintCollectorPercent = 100

// tuneCollectorForLint sets the collector's goal for lint, unless the user did.
func tuneCollectorForLint() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(lintCollectorPercent)
	}
}

// diffCollectorPercent is GOGC for diff. What it keeps lives to the end, and little
// dies: of two files of 500 MB, 50 in place of 100 takes a quarter less memory (319 MB, 423), and no
// more time.
const diffCollectorPercent = 50

// tuneCollectorForDiff sets the collector's goal for diff, unless the user did.
func tuneCollectorForDiff() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(diffCollectorPercent)
	}
}

// tuneCollector sets the collector's goal, unless the user did.
func tuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectorPercent)
	}
}

var tuned struct {
	sync.Mutex
	info int64 // of the largest file
}

func tuneForLarge(info int64) {
	tuned.Lock()
	defer tuned.Unlock()
	if info <= tuned.info {
		return
	}
	tuned.info = info
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(info / 100 * limitPercent)
	}
}

// tuneCollectorFor sets the collector's goal for a large file; debug may be nil.
func tuneCollectorFor(binary, debug *elfobj.File) {
	for _, f := range []*elfobj.File{binary, debug} {
		if f == nil {
			continue
		}
		if s := f.Section(".debug_info"); s != nil && s.Size() > largeInfo {
			tuneForLarge(s.Size())
		}
	}
}
