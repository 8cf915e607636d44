package upload

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/symtool/symtool/internal/par"
)

// zipped is Mozilla's protocol: zips with many files.
type zipped struct {
	u    *Uploader
	base *url.URL
}

func (p *zipped) url(f *file) string { return shown(below(p.base, f.parts()...)) }

// send fails, as single files are not sent.
func (p *zipped) send(context.Context, *file, *Result) (Outcome, error) {
	return Failed, fmt.Errorf("zip: single files are not sent")
}

// zipRun puts files into zips, in order, and sends zips concurrently.
type zipRun struct {
	p       *zipped
	ctx     context.Context
	mu      sync.Mutex
	done    func(*Result)
	err     error // of writing the list of files that are done
	current *archive
	slots   chan struct{}
	sending sync.WaitGroup
}

// packed is a file that is ready for a zip.
type packed struct {
	r     *Result
	entry *entry // nil if it is not put into one
}

func (u *Uploader) runZips(ctx context.Context, paths []string, done func(*Result)) error {
	z := &zipRun{p: u.target.(*zipped), ctx: ctx, done: done, slots: make(chan struct{}, u.Jobs)}
	err := par.Ordered(ctx, u.Jobs, len(paths),
		func(ctx context.Context, _, i int) (packed, error) {
			r := u.prepare(ctx, i, paths[i])
			if r.Err != nil || r.Outcome != Uploaded {
				return packed{r, nil}, context.Cause(ctx)
			}
			e, err := u.pack(ctx, r.file)
			if err != nil {
				r.Outcome, r.Err = Failed, err
			}
			return packed{r, e}, context.Cause(ctx)
		},
		func(_ int, p packed) error { return z.add(p) })
	if err == nil {
		err = z.flush()
	}
	z.sending.Wait()
	if z.current != nil {
		z.current.remove()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		err = z.failed()
	}
	return err
}

func (z *zipRun) failed() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.err
}

// add puts a file into the current zip, or into the next one if it is full.
func (z *zipRun) add(p packed) error {
	if p.entry == nil {
		return z.finish(p.r)
	}
	defer p.entry.remove()
	if z.current != nil && z.current.sizeWith(p.entry) > z.p.u.ZipSize {
		if err := z.flush(); err != nil {
			return err
		}
	}
	if z.current == nil {
		a, err := z.p.u.newArchive()
		if err != nil {
			return err
		}
		z.current = a
	}
	if size := z.current.sizeWith(p.entry); size > z.p.u.ZipSize {
		p.r.Outcome, p.r.Err = Failed, fmt.Errorf("in a zip it takes %d bytes, more than the limit of %d", size, z.p.u.ZipSize)
		return z.finish(p.r)
	}
	return z.current.add(p)
}

// finish reports the outcome of a file.
func (z *zipRun) finish(r *Result) error {
	err := z.p.u.conclude(r, z.done)
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.err == nil {
		z.err = err
	}
	return z.err
}

// flush sends the current zip, as soon as fewer than Jobs are being sent.
func (z *zipRun) flush() error {
	a := z.current
	z.current = nil
	if a == nil || len(a.files) == 0 {
		if a != nil {
			a.remove()
		}
		return nil
	}
	file, err := a.finish()
	if err != nil {
		a.remove()
		return err
	}
	select {
	case z.slots <- struct{}{}:
	case <-z.ctx.Done():
		a.remove()
		return context.Cause(z.ctx)
	}
	z.sending.Add(1)
	go func() {
		defer z.sending.Done()
		defer func() { <-z.slots }()
		defer a.remove()
		z.send(a, file)
	}()
	return z.failed()
}

// send sends a zip, and reports the outcome of its files.
func (z *zipRun) send(a *archive, zip *body) {
	var (
		u     = z.p.u
		tries Result
		there map[string]bool
	)
	err := u.client.state()
	if err != nil {
		err = fmt.Errorf("not tried: %w", err)
	} else {
		there, err = z.p.post(z.ctx, a, zip, &tries)
		u.client.ended(z.ctx, err)
		err = u.client.redacted(err)
	}
	for _, r := range a.files {
		if z.ctx.Err() != nil {
			r.forget()
			continue
		}
		r.Tries = tries.Tries
		switch {
		case err != nil:
			r.Outcome, r.Err = Failed, err
		case there[strings.Join(r.file.parts(), "/")]:
			r.Outcome = Present
		}
		_ = z.finish(r) // the error is in z.err
	}
}

// zipName is the name of the field and the file, by which servers recognise
// archives.
const zipName = "symbols.zip"

// post sends a zip. there are the files that the server already had.
func (p *zipped) post(ctx context.Context, a *archive, zip *body, tries *Result) (there map[string]bool, err error) {
	contentType, b := form(p.u.Fields, zipName, zipName, zip)
	got, err := p.u.client.do(ctx, &request{
		method: http.MethodPost, url: p.base, header: http.Header{"Content-Type": {contentType}}, body: b, most: maxJSON, carries: tries,
		progress: func(sent int64) {
			for _, r := range a.files {
				p.u.Progress(r.Item, sent, zip.size)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	var doc struct {
		Upload struct {
			Skipped []string `json:"skipped_keys"`
		}
	}
	if got.parse(&doc) != nil {
		return nil, nil // servers other than Mozilla's may answer anything
	}
	there = map[string]bool{}
	for _, key := range doc.Upload.Skipped {
		parts := strings.Split(key, "/")
		there[strings.Join(parts[max(len(parts)-3, 0):], "/")] = true
	}
	return there, nil
}
