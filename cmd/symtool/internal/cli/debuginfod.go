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

// progressVar is the variable that makes elfutils' client report its progress.
const progressVar = "DEBUGINFOD_PROGRESS"

// timeoutVar is the variable with elfutils' timeout.
const timeoutVar = "DEBUGINFOD_TIMEOUT"

// unnamedPatience is how long servers may take in vain that the environment names, often without the knowledge of who
// runs symtool. elfutils' client, and gdb with it, waits 90 seconds for each file.
var unnamedPatience = 30 * time.Second

// SetPatience changes how long servers may take in vain that the environment names, for tests.
func SetPatience(d time.Duration) (restore func()) {
	old := unnamedPatience
	unnamedPatience = d
	return func() { unnamedPatience = old }
}

// UntilTold is how long a request to such servers may take before a message says what is waited for.
func UntilTold() time.Duration { return unnamedPatience / 6 }

// NewDebuginfod returns the client for the servers in the flags or the
// environment, or nil without any.
func NewDebuginfod(c *cli.Context, msgs *Messages) (*debuginfod.Client, error) {
	if c.Bool("no-debuginfod") || c.Bool("hermetic") {
		return nil, nil
	}
	named := c.IsSet("debuginfod")
	getenv := func(name string) string {
		if name == "DEBUGINFOD_URLS" && named {
			return ""
		}
		return os.Getenv(name)
	}
	cfg, err := debuginfod.FromEnv(getenv)
	if named {
		cfg.URLs = slices.DeleteFunc(c.StringSlice("debuginfod"), func(url string) bool { return url == "" })
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
	if c.Bool("verbose") || os.Getenv(progressVar) != "" && !c.Bool("quiet") {
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
