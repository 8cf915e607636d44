package cli

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
)

// hasLogLevel reports whether a command has the flag --log-level. All have it, except those
// that only print text.
func hasLogLevel(c *cli.Command) bool { return len(c.Flags) > 0 && c.Name != "version" }

// addLogLevel adds --log-level to a command.
func addLogLevel(c *cli.Command, msgs *Messages) {
	c.Flags = append(c.Flags, Words(&cli.StringFlag{Name: "log-level", Value: "warn", Usage: "print messages up to `LEVEL` to standard error: off, error (like\n--quiet), warn (default), info (like --verbose), debug (with version,\n" +
		"time and memory) or trace (with the steps of walk)"}, logLevels...))
	c.Before = func(c *cli.Context) error { return applyLogLevel(c, msgs) }
}

// applyLogLevel sets the level of the messages, and the flag that the level stands for. It
// does not affect standard output.
func applyLogLevel(c *cli.Context, msgs *Messages) error {
	if !c.IsSet("log-level") {
		return nil
	}
	name := c.Command.Name
	has := func(flag string) bool {
		return slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == flag })
	}
	for _, flag := range []string{"verbose", "quiet"} {
		if has(flag) && c.IsSet(flag) {
			return Usagef(name, "--log-level and --%s exclude each other", flag)
		}
	}
	level := logLevel(slices.Index(logLevels, c.String("log-level")))
	msgs.setLevel(level)
	flag := ""
	switch {
	case level <= logError:
		flag = "quiet"
	case level >= logInfo:
		flag = "verbose"
	}
	if flag != "" && has(flag) {
		if err := c.Set(flag, "true"); err != nil {
			return Usagef(name, "%v", err)
		}
	}
	if level >= logDebug && !(name == "dump" && c.String("format") == FormatJSON) { // standard error may then hold the document
		msgs.startDebug(name)
	}
	return nil
}

// logLevel is how much goes to standard error. Its values have the names that Mozilla's
// dump_syms and minidump-stackwalk use.
type logLevel uint8

const (
	logOff   logLevel = iota // nothing
	logError                 // reasons for failures: --quiet
	logWarn                  // also what is missing or damaged; the default
	logInfo                  // also all problems, and what was written where: --verbose
	logDebug                 // also the program, the machine, time and memory
	LogTrace                 // also the steps of walk, which --trace writes to the output
)

var logLevels = []string{"off", "error", "warn", "info", "debug", "trace"}

// debugInfo is what level debug logs at the end.
type debugInfo struct {
	command string // "" to log nothing
	start   time.Time
}

// startDebug logs the program and its arguments.
func (m *Messages) startDebug(command string) {
	m.debug = debugInfo{command, time.Now()}
	var set []string
	for _, v := range Environment {
		if _, ok := os.LookupEnv(v.Name); ok {
			set = append(set, v.Name) // without its value, which may be a secret
		}
	}
	if set == nil {
		set = []string{"nothing"}
	}
	m.Printf("symtool: debug: %s %s, %s %s/%s, %s, in the environment: %s", version.Generator, command, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		text.Count(runtime.GOMAXPROCS(0), "thread"), strings.Join(set, " "))
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
