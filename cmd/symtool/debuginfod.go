package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/internal/elfobj"
)

// progressVar is the variable with which elfutils' client reports its progress.
const progressVar = "DEBUGINFOD_PROGRESS"

// newDebuginfod returns the client for the servers that flags or environment
// name; nil without any.
func newDebuginfod(c *cli.Context, msgs *messages) (*debuginfod.Client, error) {
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
	cfg.UserAgent = generator
	if c.Bool("verbose") || os.Getenv(progressVar) != "" && !c.Bool("quiet") {
		cfg.Log = func(url string) { msgs.printf("symtool: asking %s", url) }
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

// checkBuildID checks --build-id, which replaces FILE.
func (cfg *dumpConfig) checkBuildID(text string, args []string) error {
	id, err := debuginfod.ParseBuildID(text)
	switch {
	case err != nil:
		return fmt.Errorf("--build-id: %w", err)
	case len(args) > 0:
		return fmt.Errorf("--build-id is in place of FILE, unexpected operand %q", args[0])
	case cfg.client == nil:
		return errors.New("--build-id needs a server: --debuginfod or DEBUGINFOD_URLS")
	}
	cfg.buildID = id
	cfg.files = []string{fmt.Sprintf("%x", id)}
	cfg.options.FileName = cfg.files[0]
	return nil
}

// openBinary opens FILE, or the file with --build-id.
func (d *dumper) openBinary(ctx context.Context, r *dumpResult) (*elfobj.File, error) {
	if d.buildID != nil {
		path, tried, err := d.client.Fetch(ctx, debuginfod.Executable, d.buildID)
		if err != nil {
			r.tried = append(r.tried, tried...)
			return nil, inputError(r.File, err)
		}
		r.File = path
	}
	limits := r.limits()
	if d.buildID != nil {
		limits.Opened = nil
	}
	binary, err := elfobj.Open(r.File, limits)
	if err != nil {
		return nil, inputError(r.File, err)
	}
	return binary, nil
}

// fetchDebug fetches the debug file, or the supplementary one, with the build-id; nil without one.
// what is the loss to report when a server fails.
func (d *dumper) fetchDebug(ctx context.Context, r *dumpResult, buildID []byte, what string) *elfobj.File {
	if d.client == nil {
		return nil
	}
	if len(buildID) == 0 {
		r.tried = append(r.tried, "debuginfod: there is no build-id to ask for")
		return nil
	}
	path, tried, err := d.client.Fetch(ctx, debuginfod.Debuginfo, buildID)
	r.tried = append(r.tried, tried...)
	if errors.Is(err, debuginfod.ErrNotFound) || ctx.Err() != nil {
		return nil
	}
	var debug *elfobj.File
	if err == nil {
		debug, err = elfobj.Open(path, elfobj.DefaultLimits())
	}
	if err != nil {
		r.problem(bin.Problem{Lost: what, Err: err})
		return nil
	}
	return debug
}
