package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/symtool/symtool/internal/object"
)

// GOGC for the commands that measured better with a value other than Go's 100. dump keeps Go's 100: 200 took as much
// time, and a tenth to a third more memory.
const (
	// For diff: nearly all of its heap lives to the end. For two files of 500 MB, 50 takes a quarter less memory (319 MB
	// instead of 423) and no more time.
	DiffCollectorPercent = 50

	// For resolve: for 20,000 addresses of a binary of 650 MB, 50 takes an eighth less memory and no more
	// time.
	ResolveCollectorPercent = 50

	// For serve: most of its memory holds indexes, which stay.
	ServeCollectorPercent = 50
)

// The first collection is put off until the heap has firstCollection bytes, instead of the runtime's 4 MB. Walking a
// crash with its binaries took 30 ms, 4 of them for two collections at 4 and 9 MB, which saved no memory.
const (
	firstCollection = 16 << 20
	runtimeFirst    = 4 << 20 // with GOGC=100, and proportional to GOGC (runtime, heapMinimum)
)

// collector holds the collector's goal after the first collection.
var collector = struct {
	sync.Mutex
	percent int
	begun   bool // the first collection has run, or is not put off
}{percent: 100, begun: true}

// putOffCollector puts off the first collection, and TuneCollector's goal until then, unless the user set GOGC.
var putOffCollector = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" {
		return
	}
	collector.Lock()
	defer collector.Unlock()
	collector.begun = false
	debug.SetGCPercent(100 * firstCollection / runtimeFirst)
	runtime.AddCleanup(&struct{ *int }{}, func(struct{}) { // after the first collection
		collector.Lock()
		defer collector.Unlock()
		collector.begun = true
		debug.SetGCPercent(collector.percent)
	}, struct{}{})
})

// TuneCollector sets the collector's goal, a GOGC percentage, unless the user set GOGC.
func TuneCollector(percent int) {
	if os.Getenv("GOGC") != "" {
		return
	}
	collector.Lock()
	defer collector.Unlock()
	if collector.percent = percent; collector.begun {
		debug.SetGCPercent(percent)
	}
}

// Variables take two to three times the memory of everything else that is read from a large file. For vmlinux, 50
// takes an eighth less memory than 100 (142 MB instead of 163), and 5 % more time. For a smaller file it would take
// 15 % more time.
const (
	largeVars            = 64 << 20 // bytes of .debug_info
	varsCollectorPercent = 50
)

// For a file of gigabytes, memory is the first limit.
const (
	largeInfo = 512 << 20 // bytes of .debug_info

	// The soft memory limit for a large file, in percent of its .debug_info. Near it, free memory is returned to the
	// system and collections are more frequent; the runtime lets them take at most half of the time. At most 18
	// percent are live (make scale). With a smaller GOGC as well, collections took half of the total time.
	limitPercent = 20
)

// In a PDB, half of all bytes may be names of inlined functions; each different name is held once. For a PDB of 229 MB
// with 461,000 of them, 110 MB are live. The program takes 228 MB without these settings, and 160 MB with them, in the
// same time.
const (
	largePDB            = 32 << 20 // bytes
	pdbCollectorPercent = 50

	// The soft memory limit for a large PDB is a percentage of its size, on top of what a file of any size needs.
	pdbLimitPercent = 50
	pdbLimitMin     = 24 << 20
)

var tuned struct {
	sync.Mutex
	limit int64 // for the largest file
}

// limitMemory sets the soft memory limit in bytes, unless the limit for another file is higher or the user set
// GOMEMLIMIT.
func limitMemory(limit int64) {
	tuned.Lock()
	defer tuned.Unlock()
	if limit <= tuned.limit {
		return
	}
	tuned.limit = limit
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit)
	}
}

// TuneCollectorForPDB sets the collector's goal for a PDB of size bytes.
func TuneCollectorForPDB(size int64) {
	if size > largePDB {
		TuneCollector(pdbCollectorPercent)
		limitMemory(pdbLimitMin + size/100*pdbLimitPercent)
	}
}

// TuneCollectorFor sets the collector's goal for a large file; variables says whether its variables are read. debug
// may be nil.
func TuneCollectorFor(variables bool, binary, debug *object.File) {
	for _, f := range []*object.File{binary, debug} {
		if f == nil {
			continue
		}
		info := f.Section(".debug_info")
		if info == nil {
			continue
		}
		if variables && info.Size() > largeVars {
			TuneCollector(varsCollectorPercent)
		}
		if info.Size() > largeInfo {
			limitMemory(info.Size() / 100 * limitPercent)
		}
	}
}
