package debuginfod

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/fetch"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
)

// entry is a file in the cache, or one to be added to it.
type entry struct {
	fetch.Place
	kind    string
	buildID []byte
	id      string // buildID in hexadecimal
}

func (c *Client) entry(kind string, buildID []byte) (*entry, error) {
	if c.cfg.Cache == "" {
		return nil, fmt.Errorf("debuginfod: no cache folder: set %s, XDG_CACHE_HOME or HOME", cacheVar)
	}
	id := hex.EncodeToString(buildID)
	e := &entry{kind: kind, buildID: buildID, id: id}
	name, check := kind, e.check
	if e.isSource() {
		name, check = sourceName(kind), func(string) error { return nil }
	}
	path := filepath.Join(c.cfg.Cache, id, name)
	e.Place = fetch.Place{Cache: c.cfg.Cache, Path: path, Check: check, Miss: path, MissAge: missAge(c.cfg.Cache)}
	return e, nil
}

// isSource reports whether e is a source file. Nothing about the contents of source files can be
// checked.
func (e *entry) isSource() bool { return strings.HasPrefix(e.kind, Source+"/") }

// sourceName returns the name of a source file in the cache: its path may be longer than a file name
// can be.
func sourceName(kind string) string {
	return fmt.Sprintf("%s-%x", Source, sha256.Sum256([]byte(kind)))
}

// defaultMissAge is how long elfutils remembers that no server has a file.
const defaultMissAge = 600 * time.Second

func missAge(cache string) time.Duration {
	text, err := os.ReadFile(filepath.Join(cache, "cache_miss_s"))
	if err != nil {
		return defaultMissAge
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return defaultMissAge
	}
	return time.Duration(max(n, 0)) * time.Second
}

// check returns an error if the file at path is not the wanted one.
func (e *entry) check(path string) error {
	f, err := elfobj.Open(path, object.DefaultLimits())
	if err != nil {
		why := bin.Bare(err, path)
		if errors.Is(err, elfobj.ErrNotBinary) {
			why = errors.Unwrap(err).Error()
		}
		return errors.New("the answer is not an ELF file: " + why)
	}
	defer f.Close()
	if got := f.BuildID(); !bytes.Equal(got, e.buildID) {
		return fmt.Errorf("the answer has build-id %x", got)
	}
	return nil
}
