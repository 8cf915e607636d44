package cli

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/version"
)

// progressVar is the environment variable that makes elfutils' client report its progress.
const progressVar = "DEBUGINFOD_PROGRESS"

// timeoutVar is the environment variable with the timeout of elfutils' client.
const timeoutVar = "DEBUGINFOD_TIMEOUT"

// unnamedPatience is how long servers named by the environment may take without result. Users of symtool often do not
// know of these servers. elfutils' client, and gdb with it, waits 90 seconds for each file.
var unnamedPatience = 30 * time.Second

// SetPatience sets unnamedPatience, for tests. restore sets it back.
func SetPatience(d time.Duration) (restore func()) {
	old := unnamedPatience
	unnamedPatience = d
	return func() { unnamedPatience = old }
}

// NoticeDelay returns how long a request to servers named by the environment may take before a message says what
// symtool is waiting for.
func NoticeDelay() time.Duration { return unnamedPatience / 6 }

// Debuginfod holds the values of the flags for debuginfod servers.
type Debuginfod struct {
	URLs []string // nil for the environment's
	No   bool
}

// Flags returns the flags --debuginfod and --no-debuginfod, with usage and no as their help.
func (d *Debuginfod) Flags(usage, no string, conditions ...Condition) []cli.Flag {
	return []cli.Flag{
		Repeated("debuginfod", usage, &d.URLs, append(conditions, Without("no-debuginfod"))...),
		Switch("no-debuginfod", no, &d.No),
	}
}

// Client returns the client for the servers, or nil if there are none. It prints each request if verbose is set, or
// if the environment asks for it and quiet is not set.
func (d *Debuginfod) Client(msgs *Messages, verbose, quiet bool) (*debuginfod.Client, error) {
	if d.No {
		return nil, nil
	}
	named := d.URLs != nil
	getenv := func(name string) string {
		if name == "DEBUGINFOD_URLS" && named {
			return ""
		}
		return os.Getenv(name)
	}
	cfg, err := debuginfod.FromEnv(getenv)
	if named {
		cfg.URLs = slices.DeleteFunc(slices.Clone(d.URLs), func(url string) bool { return url == "" })
	}
	if err == nil && len(cfg.URLs) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !named && os.Getenv(timeoutVar) == "" {
		cfg.Patience = unnamedPatience
	}
	cfg.UserAgent = version.Generator
	if verbose || os.Getenv(progressVar) != "" && !quiet {
		cfg.Log = func(url string) { msgs.Printf("symtool: asking %s", url) }
	}
	client, err := debuginfod.New(cfg)
	if err != nil && named {
		return nil, fmt.Errorf("--debuginfod: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("DEBUGINFOD_URLS: %w", err)
	}
	return client, nil
}
