package store

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Outcome is the result of putting a file into a store.
type Outcome uint8

const (
	Added    Outcome = iota // it is new
	Same                    // it already existed with the same text
	Differs                 // another one exists, and is kept
	Replaced                // another one existed
)

var outcomeNames = [...]string{"added", "same", "differs", "replaced"}

func (o Outcome) String() string { return outcomeNames[o] }

// writeBuffer is the size of the writes to the system, in bytes.
const writeBuffer = 256 << 10

// writers keeps buffered writers for reuse.
var writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

// The form of names of temporary files. The writer of one holds a lock on it.
const (
	tempPrefix = ".symtool-"
	tempSuffix = ".new"
)

// isTemp reports whether a file is a temporary one, of this package or of
// other programs that write to stores.
func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && name != lockName
}

// isLocked reports whether a temporary file belongs to this package.
func isLocked(path string) bool { return strings.HasSuffix(path, tempSuffix) }

// Pending is a file of a store that has not been published.
type Pending struct {
	*bufio.Writer
	s    *Store
	f    *os.File // nil once it is closed
	name string
	err  error // the first error of writing

	synced bool

	// Restat makes Replace leave an existing file with the same bytes alone.
	// Replace then sets Unchanged.
	Restat, Unchanged bool

	// Overwrite makes Publish replace an existing file whose text differs.
	Overwrite bool

	// Renew makes Publish update the time of an existing file with the same text,
	// so that Collect, which might be about to remove it, keeps it.
	Renew bool
}

// sticky records the first error of writing a file.
type sticky struct{ p *Pending }

func (w sticky) Write(b []byte) (int, error) {
	n, err := w.p.f.Write(b)
	if err != nil && w.p.err == nil {
		w.p.err = err
	}
	w.p.s.step("write")
	return n, err
}

// Begin starts a file. The caller must call Publish, Replace or Abort.
func (s *Store) Begin() (*Pending, error) {
	const tries = 100
	for try := 0; ; try++ {
		p := &Pending{s: s, name: fmt.Sprintf("%s%016x%s", tempPrefix, rand.Uint64(), tempSuffix)}
		f, err := s.root.OpenFile(p.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && try < tries {
			continue
		}
		if err != nil {
			return nil, err
		}
		s.opts.Temporary(s.Path(p.name), true)
		p.f, p.Writer = f, writers.Get().(*bufio.Writer)
		p.Writer.Reset(sticky{p})
		s.step("create")
		held, err := p.hold()
		if held {
			s.step("lock")
			return p, nil
		}
		p.Abort()
		if err != nil || try == tries {
			return nil, errors.Join(err, errors.New("the temporary file was removed repeatedly"))
		}
	}
}

// hold locks a new file, which until then may be taken for a leftover, and
// reports whether it still exists.
func (p *Pending) hold() (bool, error) {
	if err := lockFile(p.f, true, true); err != nil && !errors.Is(err, errNoLocks) {
		return false, err
	}
	mine, err := p.f.Stat()
	if err != nil {
		return false, err
	}
	there, err := p.s.root.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}

// Finish completes the file and, unless Options say otherwise, waits until it is on the
// disk. Publish and Replace call it if the caller has not.
func (p *Pending) Finish() error {
	err := p.Flush()
	p.s.step("flush")
	if err == nil && !p.s.opts.NoSync && !p.synced {
		err = p.f.Sync()
		p.synced = err == nil
		p.s.step("sync")
	}
	if err == nil {
		p.dropBuffer()
	}
	return err
}

// dropBuffer releases the buffer for another file, as a finished file may have to wait for its
// name.
func (p *Pending) dropBuffer() {
	if p.Writer.Size() == writeBuffer {
		p.Writer.Reset(nil)
		writers.Put(p.Writer)
		p.Writer = bufio.NewWriterSize(sticky{p}, 16)
	}
}

// Abort removes the file. After Publish or Replace it does nothing.
func (p *Pending) Abort() {
	if p.f != nil {
		_ = p.s.root.Remove(p.name)
		p.gone()
	}
}

// gone releases the lock once the file is published or removed.
func (p *Pending) gone() {
	p.s.opts.Temporary(p.s.Path(p.name), false)
	p.f.Close()
	p.f = nil
	p.dropBuffer()
}

// Publish gives the file its place in the store unless another file has that place, with
// the same text, compressed or not, or with a different one. existing is then the path of
// that file.
func (p *Pending) Publish(place string) (o Outcome, existing string, err error) {
	defer p.Abort()
	if err := p.Flush(); err != nil {
		return Added, "", err
	}
	const tries = 100
	for try := 0; ; try++ {
		o, existing, err := p.compare(place)
		if o == Differs && p.Overwrite && err == nil {
			return Replaced, "", p.overwrite(place, existing)
		}
		if existing != "" || err != nil {
			return o, existing, err
		}
		if err := p.Finish(); err != nil { // an existing file need not wait for the disk
			return Added, "", err
		}
		err = p.link(place)
		if err == nil {
			return Added, "", nil
		}
		again := errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist)
		if !again || try == tries {
			return Added, "", err
		}
	}
}

// freshAge is the age from which Renew updates the time of a file. It keeps whatever
// depends on a younger file from being built again.
const freshAge = time.Hour

// compare compares the file with the one that has its place. It waits for
// processes that remove files: with Renew, a file that it has seen will not be
// removed.
func (p *Pending) compare(place string) (Outcome, string, error) {
	unlock, err := p.s.lock(false)
	if err != nil {
		return Added, "", err
	}
	defer unlock()
	there, err := p.s.there(place)
	if there == "" || err != nil {
		return Added, "", err
	}
	same, err := p.s.sameText(p.name, there)
	if err != nil {
		return Added, "", err
	}
	if same {
		if st, err := p.s.root.Lstat(there); p.Renew && err == nil && time.Since(st.ModTime()) > freshAge {
			now := time.Now()
			_ = p.s.root.Chtimes(there, now, now) // only its owner may
		}
		return Same, there, nil
	}
	return Differs, there, nil
}

// overwrite replaces a file, which may be compressed in another way.
func (p *Pending) overwrite(place, existing string) error {
	if err := p.Replace(place); err != nil || existing == place {
		return err
	}
	unlock, err := p.s.lock(true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := p.s.root.Remove(existing); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// there returns the file in a place, or one beside it that differs only in its
// compression, or "".
func (s *Store) there(place string) (string, error) {
	for _, name := range variants(place) {
		st, err := s.root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case !st.Mode().IsRegular():
			return "", &fs.PathError{Op: "compare", Path: name, Err: errors.New("exists and is not a regular file")}
		default:
			return name, nil
		}
	}
	return "", nil
}

// link publishes the file in one step: others see all of it, or nothing.
func (p *Pending) link(place string) error {
	unlock, err := p.s.lock(true)
	if err != nil {
		return err
	}
	defer unlock()
	if there, err := p.s.there(place); err != nil || there != "" {
		return errors.Join(err, fs.ErrExist)
	}
	changed, err := p.s.makeFolders(filepath.Dir(place))
	if err != nil {
		return err
	}
	err = p.s.link(p.name, place)
	p.s.step("link")
	if noLinks(err) {
		// The lock excludes other writers that publish new files.
		err = p.s.root.Rename(p.name, place)
	} else if err == nil {
		err = p.s.root.Remove(p.name)
	}
	if err != nil {
		return err
	}
	p.s.step("remove")
	p.gone()
	return p.s.syncFolders(changed)
}

// noLinks reports whether err means that the file system has no hard links.
func noLinks(err error) bool {
	for _, no := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK, syscall.EXDEV} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

// Replace gives the file its place in the store. It replaces an existing file,
// and keeps its permissions, unless that file is read-only for its owner.
func (p *Pending) Replace(place string) error {
	defer p.Abort()
	if err := p.Finish(); err != nil {
		return err
	}
	unlock, err := p.s.lock(true)
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := p.s.makeFolders(filepath.Dir(place))
	if err != nil {
		return err
	}
	if p.Unchanged = p.Restat && p.holdsSame(place); p.Unchanged {
		return nil
	}
	if err := p.likeOld(place); err != nil {
		return err
	}
	if err := p.s.root.Rename(p.name, place); err != nil {
		return err
	}
	p.s.step("rename")
	p.gone()
	return p.s.syncFolders(changed)
}

// holdsSame reports whether an existing file has the same bytes. If that file cannot be
// read, it reports false, so that the file is replaced.
func (p *Pending) holdsSame(place string) bool {
	mine, err := p.s.root.Open(p.name)
	if err != nil {
		return false
	}
	defer mine.Close()
	old, err := p.s.root.Open(place)
	if err != nil {
		return false
	}
	defer old.Close()
	same, err := sameBytes(mine, old)
	return err == nil && same
}

// likeOld gives the file the permissions of the one that it replaces.
func (p *Pending) likeOld(place string) error {
	old, err := p.s.root.Stat(place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := p.s.root.OpenFile(place, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	f.Close()
	return p.f.Chmod(old.Mode().Perm())
}

// makeFolders creates a folder and its parents. changed are the folders that
// have, or will have, a new entry.
func (s *Store) makeFolders(dir string) (changed []string, err error) {
	changed = []string{dir}
	for dir != "." {
		if _, err := s.root.Lstat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
		changed = append(changed, dir)
	}
	if err := s.root.MkdirAll(changed[0], 0o777); err != nil {
		return nil, err
	}
	s.step("mkdir")
	return changed, nil
}

// syncFolders waits until the entries of folders are on the disk.
func (s *Store) syncFolders(dirs []string) error {
	if s.opts.NoSync {
		return nil
	}
	for _, dir := range dirs {
		f, err := s.root.Open(dir)
		if err != nil {
			return err
		}
		err = f.Sync()
		f.Close()
		if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
			return err
		}
	}
	return nil
}
