// Package remote gets symbols over HTTP: NewServers asks symbol servers, and NewDebuginfod, for
// supplier.BinaryOptions, asks debuginfod servers.
//
// It is separate from package resolve so that a program that uses only files links no HTTP and
// no TLS.
package remote

import (
	"github.com/symtool/symtool/internal/debuginfod"
	"github.com/symtool/symtool/resolve/supplier"
)

// Debuginfod configures debuginfod servers. The environment variables of elfutils say where files
// are cached and what requests may cost (debuginfod-client-config(7)).
type Debuginfod struct {
	URLs   []string            // base URLs of the servers; if empty, those in DEBUGINFOD_URLS
	Getenv func(string) string // such as os.Getenv; nil for no variables, and so no cache

	UserAgent string
	// Log, if non-nil, is called before each request. It may be called concurrently.
	Log func(url string)
}

// NewDebuginfod returns a Fetcher that asks debuginfod servers.
func NewDebuginfod(cfg Debuginfod) (supplier.Fetcher, error) {
	getenv := func(name string) string {
		if cfg.Getenv == nil || name == "DEBUGINFOD_URLS" && len(cfg.URLs) > 0 {
			return ""
		}
		return cfg.Getenv(name)
	}
	c, err := debuginfod.FromEnv(getenv)
	if err != nil {
		return nil, err
	}
	if len(cfg.URLs) > 0 {
		c.URLs = cfg.URLs
	}
	c.UserAgent, c.Log = cfg.UserAgent, cfg.Log
	return debuginfod.New(c)
}
