// Package debuginfod fetches debug files and executables by their build-ids from debuginfod
// servers, over HTTP, and caches them where elfutils' client does (debuginfod(8), "WEBAPI";
// debuginfod-client-config(7)).
//
// The cache has these files:
//
//	CACHE/HEX/debuginfo, CACHE/HEX/executable   the files
//	CACHE/HEX/source-SUM                        a source file; SUM is the SHA-256 of "source" and its path
//	the same, empty                             no server had it when it was written
//	CACHE/cache_miss_s                          for how many seconds that holds; 600 by default
//
// Files appear in the cache whole and, except for source files, only after they were found to be ELF files with the
// requested build-id. Files are replaced, but not removed: elfutils' own client does that, by its own rules.
//
// # Where we differ
//
// from elfutils: servers are asked one after the other, not all at once, and a server that does
// not answer is not asked again by this Client. A file must have the requested build-id.
// Redirects from https to http are refused. Retries, file: URLs and signatures are not
// supported.
package debuginfod

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"time"

	"github.com/symtool/symtool/internal/fetch"
)

// Kinds of files that a server may have for a build-id.
const (
	Debuginfo  = "debuginfo"  // a separate or supplementary debug file, or an executable with DWARF
	Executable = "executable" // the file that runs
	Source     = "source"     // followed by an absolute path: the source file to which the debug information refers by that path
)

// ErrNotFound is wrapped by the error for a file that no server has. It
// matches fs.ErrNotExist.
var ErrNotFound error = notFoundError{}

type notFoundError struct{}

func (notFoundError) Error() string        { return "no server has it" }
func (notFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// Client requests files from servers. Its methods may be called concurrently.
type Client struct {
	cfg     Config
	servers []*fetch.Server
	http    *fetch.Client
	now     func() time.Time
	lost    atomic.Int64 // nanoseconds spent on servers that then failed
}

// New returns a client. It returns an error if a URL in cfg is malformed.
func New(cfg Config) (*Client, error) {
	servers, err := fetch.NewServers(cfg.URLs)
	if err != nil {
		return nil, err
	}
	limits := fetch.Limits{Timeout: cfg.Timeout, MaxTime: cfg.MaxTime, MaxSize: cfg.MaxSize}
	return &Client{cfg: cfg, servers: servers, http: fetch.New(limits, cfg.UserAgent, cfg.Log), now: time.Now}, nil
}

// maxBuildID is the maximum length of a build-id, in bytes; tools make
// build-ids of 8 to 32.
const maxBuildID = 64

// Fetch returns the path of a file in the cache, fetching it if necessary.
// tried has a line for each server that failed: URL and reason. The error is
// ErrNotFound if all servers answered that they do not have the file.
func (c *Client) Fetch(ctx context.Context, kind string, buildID []byte) (path string, tried []string, err error) {
	if len(buildID) == 0 || len(buildID) > maxBuildID {
		return "", nil, fmt.Errorf("debuginfod: a build-id of %d bytes, want 1 to %d", len(buildID), maxBuildID)
	}
	if len(c.servers) == 0 {
		return "", nil, fmt.Errorf("debuginfod: %s of build-id %x: no server is configured", kind, buildID)
	}
	e, err := c.entry(kind, buildID)
	if err != nil {
		return "", nil, err
	}
	if e.Known() {
		return e.Path, nil, nil
	}
	if age, missed := e.Missed(c.now()); missed {
		return "", []string{fmt.Sprintf("%s: no server had it %v ago", e.Path, age)}, notFound(kind, buildID)
	}
	var failed []string
	for _, s := range c.servers {
		start := time.Now()
		where, err := c.from(ctx, s, e)
		if err == nil {
			return e.Path, tried, nil
		}
		if ctx.Err() != nil {
			return "", tried, context.Cause(ctx)
		}
		line := fmt.Sprintf("%s: %v", where, err)
		tried = append(tried, line)
		if !errors.Is(err, fetch.ErrMissing) {
			c.lost.Add(int64(time.Since(start)))
			failed = append(failed, line)
		}
	}
	if len(failed) > 0 {
		return "", tried, fmt.Errorf("debuginfod: %s", strings.Join(failed, "; "))
	}
	e.RememberMiss(c.now())
	return "", tried, notFound(kind, buildID)
}

func notFound(kind string, id []byte) error {
	return fmt.Errorf("debuginfod: %s of build-id %x: %w", kind, id, ErrNotFound)
}

// ParseBuildID parses a build-id in hexadecimal.
func ParseBuildID(text string) ([]byte, error) {
	id, err := hex.DecodeString(text)
	if err != nil || len(id) == 0 || len(id) > maxBuildID {
		return nil, fmt.Errorf("%q is not a build-id: want an even number of 2 to %d hexadecimal digits", text, 2*maxBuildID)
	}
	return id, nil
}
