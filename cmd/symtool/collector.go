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
// comparison). Of a file with gigabytes memory is what runs out first: there a
// collection in proportion costs little, because what is held has few pointers.
const (
	collectorPercent = 200
	largePercent     = 10
	largeInfo        = 512 << 20 // bytes of .debug_info
)

// tuneCollector sets the collector's goal, unless the user did.
func tuneCollector() { setCollector(collectorPercent) }

func setCollector(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

var tuneForLarge = sync.OnceFunc(func() { setCollector(largePercent) })

// tuneCollectorFor sets the collector's goal for a large file; debug may be nil.
func tuneCollectorFor(binary, debug *elfobj.File) {
	for _, f := range []*elfobj.File{binary, debug} {
		if f == nil {
			continue
		}
		if s := f.Section(".debug_info"); s != nil && s.Size() > largeInfo {
			tuneForLarge()
		}
	}
}
