package dumpfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/internal/unpack"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/live"
)

// PeekSize is the size of a buffer in which FormatOfStream finds the start of a compressed dump:
// twice the longest block of zstd (RFC 8878, 3.1.1.2.4).
const PeekSize = 256 << 10

// FormatOfStream is like FormatOf, for a dump that is read with ReadFrom. It consumes nothing of in.
func FormatOfStream(in *bufio.Reader) string {
	head, _ := in.Peek(sniffSize)
	if p := unpack.Find(head); p != nil {
		packed, _ := in.Peek(in.Size())
		head = headOf(p, bytes.NewReader(packed))
	}
	return sniff(head)
}

// ReadFrom reads a dump from a reader that cannot seek, such as the pipe into which the kernel
// writes a core; o.Name is its name in messages. Of an ELF core, it keeps what elfcore.ReadStream
// keeps, whatever the size of the core. A minidump is copied to a temporary file. A file that can
// seek is not copied, but read as by Open.
func ReadFrom(ctx context.Context, in io.Reader, o Options) (*File, error) {
	if f, ok := in.(*os.File); ok {
		at, err := f.Seek(0, io.SeekCurrent)
		if st, err2 := f.Stat(); err == nil && err2 == nil && at == 0 && st.Mode().IsRegular() {
			o.Core.Written = st.ModTime()
			return o.open(loadFile(ctx, f, st.Size(), o))
		}
	}
	file, err := readStream(ctx, in, o)
	if err != nil {
		return nil, withPath(o.Name, err)
	}
	return file, nil
}

func readStream(ctx context.Context, in io.Reader, o Options) (*File, error) {
	plain, err := unpacked(bin.ContextReader(ctx, in))
	if err != nil {
		return nil, err
	}
	defer plain.Close()
	r := bufio.NewReader(plain)
	head, err := r.Peek(sniffSize)
	if len(head) == 0 && err != nil && err != io.EOF {
		return nil, err
	}
	switch sniff(head) {
	case Core:
		return readCore(ctx, r, o)
	case "":
		return nil, unknown("")
	}
	return o.open(spool(ctx, r, o))
}

// unpacked returns the contents of a dump that may be compressed.
func unpacked(in io.Reader) (io.ReadCloser, error) {
	r := bufio.NewReader(in)
	head, _ := r.Peek(unpack.MagicSize)
	p := unpack.Find(head)
	if p == nil {
		return io.NopCloser(r), nil
	}
	z, err := p.Open(r)
	if err != nil {
		return nil, p.Damaged(err)
	}
	return z, nil
}

// readCore reads an ELF core from front to back.
func readCore(ctx context.Context, in io.Reader, o Options) (*File, error) {
	spill, err := scratch.File(o.TempDir)
	if err != nil {
		return nil, temporary(err)
	}
	defer spill.Close()
	c, core := &contents{}, o.Core
	if core.ReadFile == nil {
		core.ReadFile = c.open
	}
	d, err := elfcore.ReadStream(in, o.Name, elfcore.StreamOptions{Options: core, Spill: spill})
	var seek *elfcore.SeekError
	if errors.As(err, &seek) {
		return o.open(spool(ctx, seek.Rest, o))
	}
	if err != nil || ctx.Err() != nil {
		c.Close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return kept(d, c), nil
}

// capture reads a running process.
func capture(ctx context.Context, o Options) (*File, error) {
	c, core := &contents{}, o.Core
	if core.ReadFile == nil {
		core.ReadFile = c.open
	}
	l := live.Options{Core: core, Limit: o.StopLimit, Waiting: o.Waiting}
	d, err := live.Capture(ctx, o.PID, o.Name, l)
	if err != nil {
		c.Close()
		return nil, err
	}
	if o.Reads != nil && misses(ctx, d, o.Reads) {
		l.Reads, l.Waiting = o.Reads, nil
		if whole, err := live.Capture(ctx, o.PID, o.Name, l); err == nil { // otherwise it has ended
			d = whole
		}
	}
	return kept(d, c), nil
}

// misses reports whether reads needs memory of a process that still exists, but whose memory was not
// kept. By then reads has read what does not change, such as symbols, so that the process need not
// be stopped for that.
func misses(ctx context.Context, d *dump.Dump, reads func(context.Context, *dump.Dump)) bool {
	var missed atomic.Bool
	d.Memory.More = func(addr uint64) *dump.Region {
		if m := d.MappingAt(addr); m != nil && m.Read {
			missed.Store(true)
		}
		return nil
	}
	reads(ctx, d)
	d.Memory.More = nil
	return missed.Load()
}

// kept returns a File for a dump that is in memory.
func kept(d *dump.Dump, c *contents) *File {
	for i := range d.Memory.Regions {
		d.Size += int64(len(d.Memory.Regions[i].Data))
	}
	return &File{d, Core, c}
}
