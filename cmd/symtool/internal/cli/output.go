package cli

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

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// Output receives one result, whole or not at all.
type Output interface {
	io.Writer
	Name() string  // as the user knows it
	Commit() error // must be called once everything has been written
	Abort()        // discards the output; does nothing after Commit
}

// OutputBuffer is the size of the writes to the system, in bytes.
const OutputBuffer = 256 << 10

// OutputError returns err with the output's name and status 4, or nil. A closed pipe on standard
// output is not an error: its reader has what it wants.
func OutputError(name string, err error) error {
	if err == nil || errors.Is(err, ErrReaderGone) {
		return nil
	}
	err = bin.WithoutPath(err)
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		err = linkErr.Err
	}
	return &StatusError{Status: StatusOutput, Err: fmt.Errorf("%s: %w", name, err)}
}

// ErrReaderGone means that standard output is a pipe that nobody reads.
var ErrReaderGone = errors.New("the reader of standard output is gone")

// Stdout is standard output.
type Stdout struct {
	*bufio.Writer
	terminal *terminalWriter // nil if it is not a terminal
}

// NewStdout returns w as standard output.
func NewStdout(w io.Writer) *Stdout {
	gone := GoneWriter{w}
	if !IsTerminal(w) {
		return &Stdout{Writer: bufio.NewWriterSize(gone, OutputBuffer)}
	}
	t := &terminalWriter{w: gone}
	return &Stdout{bufio.NewWriterSize(t, OutputBuffer), t}
}

func (*Stdout) Name() string { return "standard output" }
func (*Stdout) Abort()       {}

func (s *Stdout) Commit() error {
	if err := s.Flush(); err != nil || s.terminal == nil {
		return err
	}
	return s.terminal.flush()
}

// GoneWriter is a writer that returns ErrReaderGone for a pipe that nobody reads.
type GoneWriter struct{ W io.Writer }

func (g GoneWriter) Write(p []byte) (int, error) {
	n, err := g.W.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		err = ErrReaderGone
	}
	return n, err
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWriter makes lines printable (see text.Printable).
type terminalWriter struct {
	w    io.Writer
	line []byte // incomplete line
}

func (t *terminalWriter) Write(p []byte) (int, error) {
	t.line = append(t.line, p...)
	end := bytes.LastIndexByte(t.line, '\n') + 1
	var b strings.Builder
	for line := range strings.Lines(string(t.line[:end])) {
		b.WriteString(text.Printable(line[:len(line)-1]))
		b.WriteByte('\n')
	}
	t.line = append(t.line[:0], t.line[end:]...)
	if _, err := io.WriteString(t.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *terminalWriter) flush() error {
	_, err := io.WriteString(t.w, text.Printable(string(t.line)))
	t.line = nil
	return err
}

// CreateOutput opens path for writing. "-" is standard output. A device or a named pipe is written
// in place. Any other path gets a new file, which replaces the old one at Commit.
func CreateOutput(path string, standard io.Writer) (Output, error) {
	if path == "-" || path == "/dev/stdout" {
		return NewStdout(standard), nil
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
		return &specialFile{bufio.NewWriterSize(f, OutputBuffer), f, path}, nil
	}
	return newWholeFile(target, path)
}

// outputTarget follows symbolic links, so that a link remains a link. special reports whether the
// file cannot be replaced.
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

// specialFile is an Output to a device or named pipe.
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

// WholeFile is a file that appears under its name at Commit. Until then it is a temporary file in
// the same folder, so that it can be renamed.
type WholeFile struct {
	*bufio.Writer
	F      *os.File // nil after Commit or Abort
	target string
	name   string
	Restat bool // leave the old file alone if it has the same contents
	same   bool // Commit left the old file alone
}

// Unchanged reports whether Commit left the old file alone because it already had the same
// contents.
func Unchanged(out Output) bool {
	w, ok := out.(*WholeFile)
	return ok && w.same
}

func newWholeFile(target, name string) (*WholeFile, error) {
	mode := fs.FileMode(0o666) // minus the umask
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
	w := &WholeFile{Writer: bufio.NewWriterSize(f, OutputBuffer), F: f, target: target, name: name}
	if old != nil {
		if err := f.Chmod(mode); err != nil {
			w.Abort()
			return nil, err
		}
	}
	return w, nil
}

// writable returns an error for a file that its owner has made read-only.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// createTemp is like os.CreateTemp, with the given mode, to which the umask applies.
func createTemp(dir string, mode fs.FileMode) (*os.File, error) {
	const tries = 100
	for try := 0; ; try++ {
		name := filepath.Join(dir, fmt.Sprintf(".symtool-%016x.tmp", rand.Uint64()))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			Temporaries.Add(name)
		}
		if err == nil || try == tries || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// Temporaries holds the names of the temporary files that exist. There is one set per process,
// since signals are per process.
var Temporaries tempSet

type tempSet struct {
	mu    sync.Mutex
	names map[string]bool
}

// Add adds the name of an existing file.
func (s *tempSet) Add(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	s.names[name] = true
}

// Forget removes the name of a file that was renamed or deleted.
func (s *tempSet) Forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, name)
}

// removeAll deletes the files when the program ends early.
func (s *tempSet) removeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		os.Remove(name)
	}
	clear(s.names)
}

func (w *WholeFile) Name() string { return w.name }

func (w *WholeFile) Commit() error {
	if err := w.finish(); err != nil {
		return err
	}
	return w.rename()
}

// finish completes the temporary file and closes it.
func (w *WholeFile) finish() error {
	err := w.Flush()
	if closeErr := w.F.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		w.Abort()
	}
	return err
}

// rename gives the finished file its name.
func (w *WholeFile) rename() error {
	if w.Restat && w.holdsSame() {
		w.Abort()
		w.same = true
		return nil
	}
	if err := os.Rename(w.F.Name(), w.target); err != nil {
		w.Abort()
		return err
	}
	Temporaries.Forget(w.F.Name())
	w.F = nil
	return nil
}

// holdsSame reports whether the file to be replaced already has the same contents. If in doubt, it
// returns false.
func (w *WholeFile) holdsSame() bool {
	mine, err := os.Stat(w.F.Name())
	if err != nil {
		return false
	}
	old, err := os.Stat(w.target)
	if err != nil || old.Size() != mine.Size() {
		return false
	}
	same, err := SameContents(w.F.Name(), w.target)
	return err == nil && same
}

func (w *WholeFile) Abort() {
	if w.F == nil {
		return
	}
	w.F.Close()
	os.Remove(w.F.Name())
	Temporaries.Forget(w.F.Name())
	w.F = nil
}

// ContextWriter returns an error once Ctx is done.
type ContextWriter struct {
	Ctx context.Context
	W   io.Writer
}

func (c ContextWriter) Write(p []byte) (int, error) {
	if c.Ctx.Err() != nil {
		return 0, context.Cause(c.Ctx)
	}
	return c.W.Write(p)
}

// PrintTo writes the text of write to output, whole or not at all.
func PrintTo(output string, stdout io.Writer, write func(io.Writer) error) error {
	out, err := CreateOutput(output, stdout)
	if err != nil {
		return OutputError(output, err)
	}
	defer out.Abort()
	if err = write(out); err == nil {
		err = out.Commit()
	}
	return OutputError(out.Name(), err)
}

// SameContents reports whether two files have equal contents.
func SameContents(a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	return sameBytes(fa, fb)
}

func sameBytes(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, OutputBuffer), make([]byte, OutputBuffer)
	for {
		na, errA := io.ReadFull(a, bufA)
		nb, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:na], bufB[:nb]) {
			return false, nil
		}
		ended := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF)
		if ended && (errors.Is(errB, io.EOF) || errors.Is(errB, io.ErrUnexpectedEOF)) {
			return true, nil
		}
		if err := errors.Join(errA, errB); err != nil {
			return false, err
		}
	}
}
