package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// output receives one result: whole, or not at all.
type output interface {
	io.Writer
	Name() string  // as the user knows it
	Commit() error // everything has been written
	Abort()        // leaves things as they were; nothing after Commit
}

// outputBuffer is the size of the writes to the system, in bytes.
const outputBuffer = 256 << 10

// outputError gives err, unless it is nil, the output's name and status 4. A reader of standard
// output that has gone away is not an error: it has what it wants.
func outputError(name string, err error) error {
	if err == nil || errors.Is(err, errReaderGone) {
		return nil
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		err = linkErr.Err
	}
	return &statusError{statusOutput, fmt.Errorf("%s: %w", name, err)}
}

// errReaderGone says that standard output is a pipe without a reader.
var errReaderGone = errors.New("the reader of standard output is gone")

// stdout is standard output.
type stdout struct {
	*bufio.Writer
	terminal *terminalWriter // nil if it is not a terminal
}

func newStdout(w io.Writer) *stdout {
	gone := goneWriter{w}
	if !isTerminal(w) {
		return &stdout{Writer: bufio.NewWriterSize(gone, outputBuffer)}
	}
	t := &terminalWriter{w: gone}
	return &stdout{bufio.NewWriterSize(t, outputBuffer), t}
}

func (*stdout) Name() string { return "standard output" }
func (*stdout) Abort()       {}

func (s *stdout) Commit() error {
	if err := s.Flush(); err != nil || s.terminal == nil {
		return err
	}
	return s.terminal.flush()
}

type goneWriter struct{ w io.Writer }

func (g goneWriter) Write(p []byte) (int, error) {
	n, err := g.w.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = errReaderGone
	}
	return n, err
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWriter makes lines printable (see printable).
type terminalWriter struct {
	w    io.Writer
	line []byte // without its end yet
}

func (t *terminalWriter) Write(p []byte) (int, error) {
	t.line = append(t.line, p...)
	end := bytes.LastIndexByte(t.line, '\n') + 1
	var b strings.Builder
	for line := range strings.Lines(string(t.line[:end])) {
		b.WriteString(printable(line[:len(line)-1]))
		b.WriteByte('\n')
	}
	t.line = append(t.line[:0], t.line[end:]...)
	if _, err := io.WriteString(t.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *terminalWriter) flush() error {
	_, err := io.WriteString(t.w, printable(string(t.line)))
	t.line = nil
	return err
}

// createOutput opens path for writing: "-" is standard output; a device or named pipe is written in
// place; anything else becomes a new file that replaces the old one at Commit.
func createOutput(path string, standard io.Writer) (output, error) {
	if path == "-" || path == "/dev/stdout" {
		return newStdout(standard), nil
	}
	target, special, err := outputTarget(path)
	if err != nil {
		return nil, err
	}
	if special {
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &specialFile{bufio.NewWriterSize(f, outputBuffer), f, path}, nil
	}
	return newWholeFile(target, path)
}

// outputTarget follows symbolic links, so that a link stays one. special reports whether the file
// is one that cannot be replaced.
func outputTarget(path string) (target string, special bool, err error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link, err := os.Readlink(path); err == nil {
			return "", false, fmt.Errorf("is a symbolic link to %s, which does not exist", link)
		}
		return path, false, nil
	}
	if err != nil {
		return "", false, err
	}
	if st.IsDir() {
		return "", false, syscall.EISDIR
	}
	if !st.Mode().IsRegular() || strings.HasPrefix(path, "/dev/") || strings.HasPrefix(path, "/proc/") {
		return path, true, nil
	}
	target, err = filepath.EvalSymlinks(path)
	return target, false, err
}

// specialFile is a device or a named pipe.
type specialFile struct {
	*bufio.Writer
	f    *os.File
	name string
}

func (s *specialFile) Name() string { return s.name }
func (s *specialFile) Abort()       { s.f.Close() }

func (s *specialFile) Commit() error {
	if err := s.Flush(); err != nil {
		s.f.Close()
		return err
	}
	return s.f.Close()
}

// wholeFile is a file that appears under its name at Commit. Until then it is a
// temporary file in the same folder, because only there it can be renamed.
type wholeFile struct {
	*bufio.Writer
	f      *os.File // nil after Commit or Abort
	target string
	name   string
	restat bool // leave the old file alone if it has the same bytes
	same   bool // that is what happened
}

// unchanged reports whether an output was left alone because it had the bytes.
func unchanged(out output) bool {
	w, ok := out.(*wholeFile)
	return ok && w.same
}

func newWholeFile(target, name string) (*wholeFile, error) {
	mode := fs.FileMode(0o666) // less the umask
	old, err := os.Stat(target)
	if err == nil {
		mode = old.Mode().Perm()
		if err := writable(target); err != nil {
			return nil, err
		}
	}
	f, err := createTemp(filepath.Dir(target), mode)
	if err != nil {
		return nil, err
	}
	w := &wholeFile{Writer: bufio.NewWriterSize(f, outputBuffer), f: f, target: target, name: name}
	if old != nil {
		if err := f.Chmod(mode); err != nil {
			w.Abort()
			return nil, err
		}
	}
	return w, nil
}

// writable refuses to replace a file that its owner made read-only.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// createTemp is os.CreateTemp with a mode that the umask applies to.
func createTemp(dir string, mode fs.FileMode) (*os.File, error) {
	const tries = 100
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf(".symtool-%016x.tmp", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			temporaries.add(name)
		}
		if err == nil || try == tries || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// temporaries are the temporary files that exist. There is one set for the
// process, as there is for its signals.
var temporaries tempSet

type tempSet struct {
	mu    sync.Mutex
	names map[string]bool
}

func (s *tempSet) add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

func (s *tempSet) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, name)
}

// removeAll removes the files when the program ends early.
func (s *tempSet) removeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		os.Remove(name)
	}
	clear(s.names)
}

func (w *wholeFile) Name() string { return w.name }

func (w *wholeFile) Commit() error {
	if err := w.finish(); err != nil {
		return err
	}
	return w.rename()
}

// finish completes the temporary file.
func (w *wholeFile) finish() error {
	err := w.Flush()
	if closeErr := w.f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		w.Abort()
	}
	return err
}

// rename gives the finished file its name.
func (w *wholeFile) rename() error {
	if w.restat && w.holdsSame() {
		w.Abort()
		w.same = true
		return nil
	}
	if err := os.Rename(w.f.Name(), w.target); err != nil {
		w.Abort()
		return err
	}
	temporaries.forget(w.f.Name())
	w.f = nil
	return nil
}

// holdsSame reports whether the file that would be replaced has the bytes already. If in doubt, it
// is replaced.
func (w *wholeFile) holdsSame() bool {
	mine, err := os.Stat(w.f.Name())
	if err != nil {
		return false
	}
	old, err := os.Stat(w.target)
	if err != nil || old.Size() != mine.Size() {
		return false
	}
	same, err := sameContents(w.f.Name(), w.target)
	return err == nil && same
}

func (w *wholeFile) Abort() {
	if w.f == nil {
		return
	}
	w.f.Close()
	os.Remove(w.f.Name())
	temporaries.forget(w.f.Name())
	w.f = nil
}

// contextWriter ends writing when ctx does.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.w.Write(p)
}

// printTo writes an answer, whole or not at all.
func printTo(output string, stdout io.Writer, write func(io.Writer) error) error {
	out, err := createOutput(output, stdout)
	if err != nil {
		return outputError(output, err)
	}
	defer out.Abort()
	if err = write(out); err == nil {
		err = out.Commit()
	}
	return outputError(out.Name(), err)
}
