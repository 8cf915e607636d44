package cli

import (
	"os"
	"runtime/debug"
	"sync"

	"github.com/symtool/symtool/internal/object"
)

// GOGC of commands for which another goal than Go's 100 was measured to be better.
const (
	// dump, resolve: most of what a binary's symbols allocate lives until the output is
	// written, and a collection finds little. On a vmlinux 200 takes a tenth less
	// time and a tenth more memory. What convert, inspect and
	// walk read is smaller, and more of it dies.
	DumpCollectorPercent = 200

	// diff: what it keeps lives to the end, and little dies. Of two files of 500 MB,
	// 50 takes a quarter less memory (319 MB, 423), and no more time.
	DiffCollectorPercent = 50

	// serve: most of its memory is indexes, which stay.
	ServeCollectorPercent = 50
)

// TuneCollector sets the collector's goal, unless the user did.
func TuneCollector(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// With a file of gigabytes, memory runs out first.
const (
	largeInfo = 512 << 20 // bytes of .debug_info

	// The soft limit of memory for a large file, in percent of its .debug_info.
	// Near it memory that is free goes back to the system, and collections come
	// more often; the runtime lets them take no more than half of the time. What
	// lives takes 18 at most (make scale). A smaller GOGC beside it made collections
	// take half of all time.
	limitPercent = 20
)

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

// TuneCollectorFor sets the collector's goal for a large file; debug may be nil.
func TuneCollectorFor(binary, debug *object.File) {
	for _, f := range []*object.File{binary, debug} {
		if f == nil {
			continue
		}
		if s := f.Section(".debug_info"); s != nil && s.Size() > largeInfo {
			tuneForLarge(s.Size())
		}
	}
}
