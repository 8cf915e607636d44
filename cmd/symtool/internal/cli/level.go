package cli

import (
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/version"
)

// logLevel is how much goes to standard error. The words are those that users of
// Mozilla's dump_syms and of minidump-stackwalk know.
type logLevel uint8

const (
	logOff   logLevel = iota // nothing
	logError                 // why something could not be done: --quiet
	logWarn                  // and what is missing or damaged; without the flag
	logInfo                  // and all problems, what was written and where: --verbose
	logDebug                 // and the program, the machine, time and memory
	LogTrace                 // and the steps of walk, as --trace has them in its output
)

var logLevels = []string{"off", "error", "warn", "info", "debug", "trace"}

// debugInfo is what the level debug logs at the end.
type debugInfo struct {
	command string // "" for nothing
	start   time.Time
}

// startDebug logs the program and its arguments.
func (m *Messages) startDebug(command string) {
	m.debug = debugInfo{command, time.Now()}
	var set []string
	for _, v := range Environment {
		if _, ok := os.LookupEnv(v.Name); ok {
			set = append(set, v.Name) // not its value, which may be a secret
		}
	}
	if set == nil {
		set = []string{"nothing"}
	}
	m.Printf("symtool: debug: %s %s, %s %s/%s, %s, in the environment: %s", version.Generator, command, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		Count(runtime.GOMAXPROCS(0), "thread"), strings.Join(set, " "))
}

// endDebug logs the time and the memory used.
func (m *Messages) endDebug(status int) {
	if m.debug.command == "" {
		return
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	m.Printf("symtool: debug: %s ends with status %d after %v, with %d MB of memory from the system", m.debug.command, status,
		time.Since(m.debug.start).Round(time.Millisecond), mem.Sys>>20)
}
