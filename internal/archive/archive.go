// Package archive reads packages and archives as streams of their members: Debian's, RPM's and Alpine's packages,
// zip, tar and cpio, compressed or not, and archives inside archives. Nothing is unpacked to disk: members are
// read while the archive is, and an inner archive that needs random access is copied to a file that the caller
// provides.
//
// Structures: deb(5), "RPM V4 package format", cpio(5); for tar and zip, see the documentation of the packages that
// read them.
package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// Options limits what an archive may cost, and says what to do with its members.
type Options struct {
	// MaxUnpacked is the maximum number of unpacked bytes of an archive and of the archives in it.
	MaxUnpacked int64
	// MaxRatio is the maximum ratio of unpacked bytes to the size of the archive. It does not apply below a gigabyte.
	MaxRatio int64
	// Wanted reports whether to visit a member that begins with the bytes head, of which there are at most
	// HeadSize. Other members are searched if they are archives, and otherwise skipped.
	Wanted func(head []byte) bool
	// Visit is called with each wanted member, in order. An error ends Walk, unless it is the member's own: then
	// only that member is lost.
	Visit func(*Member) error
	// Spool copies an inner archive that needs random access.
	Spool func(*Member) (Spooled, error)
	// Problem is called with damage and refusals; the rest of the archive is read as far as possible.
	Problem func(bin.Problem)
}

// Spooled is a copy of a member.
type Spooled interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Member is a file in an archive. It is valid until Visit returns.
type Member struct {
	Path string // in messages: the archive's path and, in parentheses, the member's
	Name string // its name in the innermost archive, as recorded there: never use it as a path to write to
	in   *input
}

// Read implements io.Reader.
func (m *Member) Read(p []byte) (int, error) { return m.in.r.Read(p) }

// HeadSize is the number of bytes at the start of a file that Find needs.
const HeadSize = 512

const (
	// maxDepth is the maximum nesting of archives, where a compressed one counts twice: an image has layers, which
	// have packages, which have libraries in zips.
	maxDepth = 16

	// freeUnpacked is the number of bytes that any archive may unpack to: inflating that many takes seconds.
	freeUnpacked = 1 << 30

	// maxName is the maximum length of a member's name, which is Linux's limit for paths.
	maxName = 4096
)

// Errors for archives that are refused.
var (
	ErrUnpacked = errors.New("too many bytes unpacked")
	ErrDepth    = fmt.Errorf("archives in one another, more than %d deep", maxDepth)
)

// walker reads an archive.
type walker struct {
	Options
	ctx      context.Context
	limit    int64 // of unpacked bytes
	unpacked int64
	problems int
	over     bool  // the limit was exceeded, which was reported
	failed   error // the error of Visit, or of ctx
}

// input is a file: the archive itself, or one in it.
type input struct {
	chain []string // the paths of the archives around it, and its own
	name  string   // its own name, without the extension of a compression
	depth int
	must  bool // known to be an archive: the file that was named, or the contents of a package
	count *counter
	r     *bufio.Reader
	at    io.ReaderAt // the contents, if they allow random access
	size  int64       // of at
}

// counter counts the bytes that are read, and remembers the error.
type counter struct {
	r   io.Reader
	n   int64
	err error // other than io.EOF
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// Walk visits the members of the archive in f. It returns only errors of ctx or of Visit.
func Walk(ctx context.Context, f *os.File, name string, o Options) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	w := &walker{Options: o, ctx: ctx}
	w.limit = w.limitFor(st.Size())
	in := newInput(io.NewSectionReader(f, 0, st.Size()), []string{name}, path.Base(name), 0)
	in.at, in.size, in.must = f, st.Size(), true
	if kind := FindAt(f, st.Size(), o.Wanted); kind != nil && kind.walk == nil { // may be a binary as well
		w.problem(in, itself, kind.unread())
	} else {
		w.look(in)
	}
	return w.failed
}

// limitFor returns the maximum number of unpacked bytes for an archive of the given size.
func (w *walker) limitFor(size int64) int64 {
	if w.MaxRatio == 0 || size > w.MaxUnpacked/w.MaxRatio {
		return w.MaxUnpacked
	}
	return min(w.MaxUnpacked, max(freeUnpacked, size*w.MaxRatio))
}

// bufferSize is the buffer size of an archive's reader; a member's needs only the first bytes.
const bufferSize = 64 << 10

func newInput(r io.Reader, chain []string, name string, depth int) *input {
	c := &counter{r: r}
	size := bufferSize
	if depth > 0 {
		size = HeadSize
	}
	return &input{chain: chain, name: name, depth: depth, count: c, r: bufio.NewReaderSize(c, size)}
}

// path returns the path of the input in messages: image.tar(layer.tar(usr/lib/libx.so)).
func (in *input) path() string {
	return strings.Join(in.chain, "(") + strings.Repeat(")", len(in.chain)-1)
}

// offset returns the current reading position, in bytes from the start of the input.
func (in *input) offset() int64 { return in.count.n - int64(in.r.Buffered()) }

// problem reports damage to the input at the current reading position, and what was lost by it.
func (w *walker) problem(in *input, lost string, err error) {
	switch {
	case w.failed != nil, w.over:
		return
	case w.ctx.Err() != nil:
		w.failed = context.Cause(w.ctx)
		return
	}
	w.problems++
	w.over = errors.Is(err, ErrUnpacked)
	w.Problem(bin.Problem{Lost: lost, Err: &bin.Error{File: in.path(), Offset: uint64(in.offset()), Err: within(err)}})
}

// Descriptions of what is lost.
const (
	itself = "the file"
	rest   = "what follows in it"
)

// exactReader reads the number of bytes that a header promises. It is an error if there are fewer.
type exactReader struct {
	r    io.Reader
	left int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	if e.left -= int64(n); e.left > 0 {
		err = within(err)
	}
	return n, err
}

// within turns io.EOF into the error of an archive that ends too early.
func within(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// member examines a member of the archive in.
func (w *walker) member(in *input, name string, r io.Reader) {
	if len(name) > maxName {
		w.problem(in, "this member", fmt.Errorf("a member's name has %d bytes, want at most %d", len(name), maxName))
		return
	}
	shown := strings.TrimPrefix(strings.TrimPrefix(name, "./"), "/")
	chain := append(in.chain[:len(in.chain):len(in.chain)], shown)
	w.look(newInput(r, chain, name, in.depth+1))
}

// look visits the input or, if it is an archive, its members.
func (w *walker) look(in *input) {
	head, err := in.r.Peek(HeadSize)
	if err != nil && err != io.EOF {
		w.problem(in, itself, err)
		return
	}
	if w.Wanted(head) {
		w.visit(in)
		return
	}
	f := Find(head)
	switch {
	case f == nil:
	case f.walk == nil:
		if in.must {
			w.problem(in, itself, f.unread())
		}
	case in.depth >= maxDepth:
		w.problem(in, itself, ErrDepth)
	default:
		w.archive(f, in)
	}
}

// archive reads an archive. Damage to it does not affect the archives around it.
func (w *walker) archive(f *Format, in *input) {
	defer func() {
		if r := recover(); r != nil { // some formats are read by third-party libraries
			w.problem(in, rest, fmt.Errorf("reader panicked: %v", r))
		}
	}()
	err := f.walk(w, in)
	if err == nil && !w.done() {
		_, err = io.Copy(io.Discard, in.r) // a checksum may be at the end
	}
	if err != nil {
		w.problem(in, rest, err)
	}
}

func (in *input) member() *Member { return &Member{Path: in.path(), Name: in.name, in: in} }

// visit passes a member to Options.Visit.
func (w *walker) visit(in *input) {
	err := w.Visit(in.member())
	switch {
	case err == nil:
	case in.count.err != nil && errors.Is(err, in.count.err):
		w.problem(in, itself, err)
	default:
		w.failed = err
	}
}

// done reports whether to stop reading all archives.
func (w *walker) done() bool { return w.failed != nil || w.over }

// meter charges unpacked bytes to the limit.
type meter struct {
	w *walker
	r io.Reader
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.w.unpacked += int64(n); m.w.unpacked > m.w.limit {
		return n, fmt.Errorf("%w: want at most %d", ErrUnpacked, m.w.limit)
	}
	return n, err
}

// charged returns a reader of unpacked bytes that charges them to the limit.
func (w *walker) charged(r io.Reader) io.Reader { return bin.ContextReader(w.ctx, &meter{w, r}) }
