package upload

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"syscall"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// file is a symbol file that was read to its end.
type file struct {
	store.Inspected
	path     string
	text     [sha256.Size]byte // SHA-256 of the text
	size     int64             // of the text, in bytes
	body     body              // what is sent
	gzip     bool              // body is compressed
	progress func(sent int64)  // may be nil

	temporary string // temporary file, or ""
	forget    func(path string, exists bool)
}

// digest accumulates the size and the hashes of bytes.
type digest struct {
	sha, md5 hash.Hash
	size     int64
}

func newDigest() *digest { return &digest{sha: sha256.New(), md5: md5.New()} }

func (d *digest) Write(p []byte) (int, error) {
	d.sha.Write(p)
	d.md5.Write(p)
	d.size += int64(len(p))
	return len(p), nil
}

// of returns a body with these bytes.
func (d *digest) of(open func() (io.ReadCloser, error)) body {
	b := body{open: open, size: d.size, checked: true}
	d.sha.Sum(b.sha[:0])
	d.md5.Sum(b.md5[:0])
	return b
}

// inspect reads a symbol file, and prepares what is to be sent.
func (u *Uploader) inspect(ctx context.Context, path string) (*file, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if st, err := in.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file")
	}
	f := &file{path: path, forget: u.Temporary}
	text := newDigest()
	var spool *spooled
	var use io.Writer = text
	if u.Gzip && !u.DryRun {
		if spool, err = u.newSpool(gzipWriter); err != nil {
			return nil, err
		}
		use = io.MultiWriter(text, spool)
	}
	found, err := store.Inspect(bin.ContextReader(ctx, in), use, store.InspectOptions{Damaged: u.Damaged})
	if spool != nil {
		if failed := spool.finish(); failed != nil {
			err = failed
		}
	}
	if err != nil {
		spool.remove()
		return nil, err
	}
	if f.Inspected, f.size = *found, text.size; f.Ext != ".sym" && u.Protocol != Put && u.Protocol != S3 {
		spool.remove()
		return nil, fmt.Errorf("has variables without symbols: of the protocols, only put and s3 have a place for them")
	}
	f.body = text.of(func() (io.ReadCloser, error) { return openText(path) })
	f.text = f.body.sha
	if spool != nil {
		f.gzip, f.temporary = true, spool.path
		f.body = spool.sent.of(func() (io.ReadCloser, error) { return os.Open(spool.path) })
	}
	return f, nil
}

// remove removes what was prepared.
func (f *file) remove() {
	if f.temporary != "" {
		os.Remove(f.temporary)
		f.forget(f.temporary, false)
		f.temporary = ""
	}
}

// openInput opens a file. Opening a named pipe would block without O_NONBLOCK, which has no
// effect on a regular file.
func openInput(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// openText opens the text of a symbol file that may be compressed.
func openText(path string) (io.ReadCloser, error) {
	in, err := openInput(path)
	if err != nil {
		return nil, err
	}
	text, _, err := symfmt.Decompress(in)
	if err != nil {
		in.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{text, in}, nil
}
