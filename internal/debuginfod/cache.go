package debuginfod

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/elfobj"
)

// entry is a place in the cache.
type entry struct {
	kind    Kind
	buildID []byte
	id      string // buildID in hexadecimal digits
	cache   string
	path    string
}

func (c *Client) entry(kind Kind, buildID []byte) (*entry, error) {
	if c.cfg.Cache == "" {
		return nil, fmt.Errorf("debuginfod: no folder for its cache: set %s, XDG_CACHE_HOME or HOME", cacheVar)
	}
	id := hex.EncodeToString(buildID)
	return &entry{kind, buildID, id, c.cfg.Cache, filepath.Join(c.cfg.Cache, id, string(kind))}, nil
}

// known tells whether the cache has the file. The error says that it is known
// not to be had. A file that is damaged or too old to say no is as none: it will
// be replaced.
func (e *entry) known(now time.Time) (bool, error) {
	st, err := os.Stat(e.path)
	if err != nil || !st.Mode().IsRegular() {
		return false, nil
	}
	if st.Size() > 0 {
		return e.check(e.path) == nil, nil
	}
	if age := now.Sub(st.ModTime()); age >= 0 && age < e.missAge() {
		return false, fmt.Errorf("no server had it %v ago", age.Truncate(time.Second))
	}
	return false, nil
}

// defaultMissAge is how long elfutils believes that no server has a file.
const defaultMissAge = 600 * time.Second

func (e *entry) missAge() time.Duration {
	text, err := os.ReadFile(filepath.Join(e.cache, "cache_miss_s"))
	if err != nil {
		return defaultMissAge
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return defaultMissAge
	}
	return time.Duration(max(n, 0)) * time.Second
}

// check tells why the file at path is not the one that is wanted.
func (e *entry) check(path string) error {
	f, err := elfobj.Open(path, elfobj.DefaultLimits())
	if err != nil {
		return errors.New("what came is no ELF file: " + strings.TrimPrefix(strings.TrimPrefix(err.Error(), path+": "), "not an ELF file: "))
	}
	defer f.Close()
	if got := f.BuildID(); !bytes.Equal(got, e.buildID) {
		return fmt.Errorf("what came has build-id %x", got)
	}
	return nil
}

func (e *entry) makeFolder() error {
	if err := os.MkdirAll(e.cache, 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Dir(e.path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// temporary makes a file beside e's place.
func (e *entry) temporary() (*os.File, error) {
	if err := e.makeFolder(); err != nil {
		return nil, err
	}
	return os.CreateTemp(filepath.Dir(e.path), string(e.kind)+".")
}

// rememberMiss writes that no server has the file. Without it the next query
// asks again, so that a failure is none.
func (e *entry) rememberMiss(now time.Time) {
	if e.missAge() == 0 || e.makeFolder() != nil {
		return
	}
	f, err := os.OpenFile(e.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		f.Close()
		return
	}
	// It is there: an old miss, or what another process fetched meanwhile.
	if st, err := os.Stat(e.path); err == nil && st.Size() == 0 {
		_ = os.Chtimes(e.path, now, now)
	}
}
