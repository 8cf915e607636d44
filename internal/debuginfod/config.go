package debuginfod

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Config specifies where files come from, where they are cached, and what
// requests may cost.
type Config struct {
	URLs  []string // of servers, asked in this order
	Cache string   // folder; created when something is fetched

	// Timeout is the time within which a server must send 100 KiB, or the rest of
	// the file if that is less; 0 means no limit.
	Timeout time.Duration
	// Patience is the total time that unresponsive or slow servers may cost, over all servers and files; 0 means no
	// limit. It shortens Timeout.
	Patience time.Duration
	// MaxTime is the maximum time for one file; 0 means no limit.
	MaxTime time.Duration
	// MaxSize is the maximum size of a file, in bytes; 0 means no limit.
	MaxSize int64

	UserAgent string
	// Log, if non-nil, is called with the URL before each request. It may be called
	// concurrently.
	Log func(url string)
}

// Defaults. elfutils has no size limit, but disks are finite.
const (
	defaultTimeout = 90 * time.Second
	defaultMaxSize = 16 << 30
)

// Environment variables that elfutils documents in
// debuginfod-client-config(7).
const (
	urlsVar    = "DEBUGINFOD_URLS"
	cacheVar   = "DEBUGINFOD_CACHE_PATH"
	timeoutVar = "DEBUGINFOD_TIMEOUT"
	maxTimeVar = "DEBUGINFOD_MAXTIME"
	maxSizeVar = "DEBUGINFOD_MAXSIZE"
)

// FromEnv returns the configuration in the environment, as elfutils' client
// interprets it. An error names the variable.
func FromEnv(getenv func(string) string) (Config, error) {
	c := Config{URLs: strings.Fields(getenv(urlsVar)), Cache: cacheFolder(getenv)}
	var err error
	if c.URLs, err = withoutIMA(c.URLs); err != nil {
		return c, err
	}
	if c.Timeout, err = seconds(getenv, timeoutVar, defaultTimeout); err != nil {
		return c, err
	}
	if c.MaxTime, err = seconds(getenv, maxTimeVar, 0); err != nil {
		return c, err
	}
	c.MaxSize = defaultMaxSize
	if text := getenv(maxSizeVar); text != "" {
		c.MaxSize, err = strconv.ParseInt(text, 10, 64)
		if err != nil || c.MaxSize < 0 {
			return c, fmt.Errorf("%s is %q, want a number of bytes", maxSizeVar, text)
		}
	}
	return c, nil
}

// withoutIMA removes the words that select how elfutils checks signatures in
// RPM packages. Only "enforcing", which requires a signature, is not
// supported.
func withoutIMA(words []string) (urls []string, err error) {
	for _, w := range words {
		switch {
		case w == "ima:enforcing":
			return nil, fmt.Errorf("%s has %q, but symtool does not check signatures of files", urlsVar, w)
		case !strings.HasPrefix(w, "ima:"):
			urls = append(urls, w)
		}
	}
	return urls, nil
}

// seconds parses a timeout; zero and negative values mean no limit.
func seconds(getenv func(string) string, name string, without time.Duration) (time.Duration, error) {
	text := getenv(name)
	if text == "" {
		return without, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > math.MaxInt64/int64(time.Second) {
		return 0, fmt.Errorf("%s is %q, want a number of seconds", name, text)
	}
	return time.Duration(max(n, 0)) * time.Second, nil
}

// cacheFolder returns the folder where elfutils keeps its files, or "" if the
// environment does not determine one.
func cacheFolder(getenv func(string) string) string {
	const name = "debuginfod_client"
	if dir := getenv(cacheVar); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if old := filepath.Join(home, ".debuginfod_client_cache"); home != "" {
		if st, err := os.Stat(old); err == nil && st.IsDir() {
			return old
		}
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, name)
	}
	if home != "" {
		return filepath.Join(home, ".cache", name)
	}
	return ""
}
