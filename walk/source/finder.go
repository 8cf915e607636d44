// Package source finds the source files of a program, and the lines around a line of one: set up a Finder and call
// Find.
//
// The paths come from debug information and symbol files, whose origin may not be trustworthy. So a file that the user
// did not name is shown only if its digest equals the one in the debug information: whoever knows the digest already
// knew the contents.
package source

import (
	"bytes"
	"context"
	_ "crypto/md5"    // of DWARF 5 and PDBs
	_ "crypto/sha1"   // of PDBs
	_ "crypto/sha256" // of PDBs
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// File is a source file as symbols name it.
type File struct {
	Name     string // a path, or a name from a path mapping
	Contents symfmt.Contents
	BuildID  string // of the module, as bytes; "" if it is unknown
}

// Root is a folder with source files: those whose names begin with Old are below New.
type Root struct{ Old, New string }

// Finder finds source files. Its methods may be called concurrently.
type Finder struct {
	Roots []Root // the first root that has a file decides

	// AtPaths means that files are also read at their own paths, if their digests agree.
	AtPaths bool

	// Fetch, if non-nil, returns the path of a copy of a file that is not on this machine. The error is fs.ErrNotExist if
	// there is none.
	Fetch func(ctx context.Context, buildID []byte, path string) (string, error)

	mu      sync.Mutex
	known   map[File]*found
	held    int // bytes of the files in known
	unnamed bool
}

type found struct {
	text *Text
	err  error
}

// Limits on what a Finder reads, in bytes: for one file, and for the files that it keeps.
const (
	maxFile = 16 << 20
	maxHeld = 64 << 20
)

// Find returns a source file. The error says for each place that was tried why the file is not there.
func (f *Finder) Find(ctx context.Context, file File) (*Text, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := f.known[file]; k != nil {
		return k.text, k.err
	}
	k := &found{}
	k.text, k.err = f.find(ctx, file)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if k.text != nil {
		f.held += len(k.text.data)
	}
	if f.known == nil || f.held > maxHeld {
		f.known, f.held = map[File]*found{}, 0
	}
	f.known[file] = k
	return k.text, k.err
}

func (f *Finder) find(ctx context.Context, file File) (*Text, error) {
	var tried []error
	for _, r := range f.Roots {
		rel, ok := r.below(file.Name)
		if !ok {
			continue
		}
		t, err := r.read(rel, &file)
		if err == nil {
			return t, nil
		}
		tried = append(tried, err)
	}
	if len(tried) == 0 { // otherwise the user has said where the file is
		t, err := f.atPath(&file)
		if err == nil {
			return t, nil
		}
		tried = append(tried, err)
	}
	if f.Fetch != nil && file.BuildID != "" && path.IsAbs(file.Name) {
		t, err := f.fetch(ctx, &file)
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, err)
		}
	}
	return nil, joined(tried)
}

// notNamed returns the error for a file that is not read because it is not below one of the Roots.
func (f *Finder) notNamed(name, why string) error {
	f.unnamed = true
	return fmt.Errorf("%s: not read: %s", text.Printable(name), why)
}

// Unnamed reports whether a file was not read because no Root matches its name.
func (f *Finder) Unnamed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unnamed
}

// joined joins errors on a line.
func joined(errs []error) error {
	all := errs[0]
	for _, err := range errs[1:] {
		all = fmt.Errorf("%w; %w", all, err)
	}
	return all
}

// below returns the file's path relative to the root's folder, if its name begins with Old.
func (r *Root) below(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, r.Old)
	if !ok {
		return "", false
	}
	rest = strings.ReplaceAll(rest, `\`, "/")
	if r.Old != "" && !strings.HasSuffix(r.Old, "/") && !strings.HasSuffix(r.Old, `\`) && !strings.HasSuffix(r.Old, ":") && !strings.HasPrefix(rest, "/") {
		return "", false // Old ends within the name of a folder
	}
	if repository, _, ok := strings.Cut(name, ":"); ok && len(repository) > 1 { // git:host/project:path:revision, not a drive
		if i := strings.LastIndexByte(rest, ':'); i > 0 {
			rest = rest[:i]
		}
	}
	rest = path.Clean("/" + rest)[1:]
	return rest, rest != ""
}

// read reads a file in the folder. Neither its path nor a link can lead out of the folder.
func (r *Root) read(rel string, file *File) (*Text, error) {
	name := filepath.Join(r.New, rel)
	dir, err := os.OpenRoot(r.New)
	if err != nil {
		return nil, readError(name, err)
	}
	defer dir.Close()
	// Opening a pipe without a writer would block.
	in, err := dir.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, readError(name, err)
	}
	return take(name, in, file)
}

// atPath reads the file at its own path.
func (f *Finder) atPath(file *File) (*Text, error) {
	switch {
	case !path.IsAbs(file.Name):
		return nil, f.notNamed(file.Name, "not an absolute path")
	case !f.AtPaths:
		return nil, f.notNamed(file.Name, "no folder is named for it")
	case file.Contents.Sum == "":
		return nil, f.notNamed(file.Name, "the symbols have no checksum of it")
	}
	in, err := os.OpenFile(file.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, readError(file.Name, err)
	}
	return take(file.Name, in, file)
}

// fetch reads a copy of the file that Fetch returns for the module's build-id.
func (f *Finder) fetch(ctx context.Context, file *File) (*Text, error) {
	name, err := f.Fetch(ctx, []byte(file.BuildID), path.Clean(file.Name))
	if err != nil {
		return nil, err
	}
	in, err := os.Open(name)
	if err != nil {
		return nil, readError(name, err)
	}
	t, err := take(name, in, file)
	if t != nil && t.Check == Unchecked {
		t.Check = ByBuildID
	}
	return t, err
}

// take reads an open file, closes it, and compares it with what is known about it.
func take(name string, in *os.File, file *File) (*Text, error) {
	defer in.Close()
	data, err := contents(in)
	if err != nil {
		return nil, readError(name, err)
	}
	t := &Text{Path: name, data: data}
	was := &file.Contents
	switch {
	case was.Sum != "":
		h := was.Hash.New()
		h.Write(data)
		if sum := hex.EncodeToString(h.Sum(nil)); sum != was.Sum {
			return nil, fmt.Errorf("%s: not the file that was compiled: its %v is %s, the debug information has %s", text.Printable(name), was.Hash, sum, was.Sum)
		}
		t.Check = ByDigest
	case was.Size > 0:
		if uint64(len(data)) != was.Size {
			return nil, fmt.Errorf("%s: not the file that was compiled: it has %d bytes, the debug information says %d", text.Printable(name), len(data), was.Size)
		}
		t.Check = BySize
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil, fmt.Errorf("%s: not a text: it has zero bytes", text.Printable(name))
	}
	return t, nil
}

// contents reads a regular file.
func contents(in *os.File) ([]byte, error) {
	st, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if err := bin.CheckSize(st.Size(), maxFile); err != nil {
		return nil, err
	}
	if st.Size() == 0 { // files that the kernel generates as they are read, some without end
		return nil, nil
	}
	return io.ReadAll(bin.LimitReader(in, maxFile))
}

// readError names the file of an error in our words.
func readError(name string, err error) error {
	return fmt.Errorf("%s: %w", text.Printable(name), bin.WithoutPath(err))
}
