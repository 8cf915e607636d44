package debuginfod

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// download is one request.
type download struct {
	client *Client
	server *server
	entry  *entry
	url    *url.URL
	watch  *watch
}

func (d *download) run(ctx context.Context) error {
	cfg := &d.client.cfg
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if cfg.MaxTime > 0 {
		t := time.AfterFunc(cfg.MaxTime, func() { cancel(fmt.Errorf("took over %v", cfg.MaxTime)) })
		defer t.Stop()
	}
	d.watch = newWatch(cfg.Timeout, cancel)
	defer d.watch.stop()
	if cfg.Tell != nil {
		cfg.Tell(d.url.Redacted())
	}
	resp, err := d.get(ctx)
	if err != nil {
		err = reason(ctx, err)
		d.server.giveUp(err)
		return err
	}
	defer resp.Body.Close()
	if err := d.accept(resp); err != nil {
		return err
	}
	err = reason(ctx, d.save(resp.Body))
	if errors.Is(err, errSlow) {
		d.server.giveUp(err)
	}
	return err
}

// reason replaces the error of a request that this package gave up by why it
// did so, and leaves out what the caller says better.
func reason(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func (d *download) get(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url.String(), nil)
	if err != nil {
		return nil, err
	}
	if agent := d.client.cfg.UserAgent; agent != "" {
		req.Header.Set("User-Agent", agent)
	}
	if most := d.client.cfg.MaxSize; most > 0 {
		req.Header.Set("X-Debuginfod-Maxsize", strconv.FormatInt(most, 10))
	}
	return d.client.http.Do(req)
}

// accept judges an answer by its head.
func (d *download) accept(resp *http.Response) error {
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return missing(resp.Status)
	case resp.StatusCode != http.StatusOK:
		return errors.New(resp.Status)
	}
	// The transport takes gzip off, which it asked for.
	if how := resp.Header.Get("Content-Encoding"); how != "" && how != "identity" {
		return fmt.Errorf("Content-Encoding %q was not asked for", how)
	}
	size := resp.ContentLength
	if told, err := strconv.ParseInt(resp.Header.Get("X-Debuginfod-Size"), 10, 64); err == nil {
		size = max(size, told)
	}
	return d.checkSize(size)
}

func (d *download) checkSize(size int64) error {
	if most := d.client.cfg.MaxSize; most > 0 && size > most {
		return fmt.Errorf("%d bytes or more, over the limit of %d", size, most)
	}
	return nil
}

// save writes what comes into a temporary file beside its place, and gives it
// its name when it is complete and the right one.
func (d *download) save(body io.Reader) error {
	tmp, err := d.entry.temporary()
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // fails when it has its name
	if err := d.copy(tmp, body); err != nil {
		tmp.Close()
		return err
	}
	if err := errors.Join(tmp.Chmod(0o400), tmp.Close()); err != nil {
		return err
	}
	if err := d.entry.check(tmp.Name()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), d.entry.path)
}

func (d *download) copy(w io.Writer, r io.Reader) error {
	buf := make([]byte, 64<<10)
	if n, _ := io.ReadFull(r, buf[:len(elf.ELFMAG)]); string(buf[:n]) != elf.ELFMAG {
		return fmt.Errorf("what came is no ELF file: it begins with %q", buf[:n])
	}
	r = io.MultiReader(strings.NewReader(elf.ELFMAG), r)
	for total := int64(0); ; {
		n, err := r.Read(buf)
		total += int64(n)
		if tooLarge := d.checkSize(total); tooLarge != nil {
			return tooLarge
		}
		d.watch.got(n)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("after %d bytes: %w", total, err)
		}
	}
}

// watchBytes is what a server must give in the time-out, as for elfutils.
const watchBytes = 100 << 10

var errSlow = errors.New("too slow")

// watch ends a request whose server gives too little.
type watch struct {
	timeout time.Duration
	timer   *time.Timer
	bytes   int
}

// newWatch starts to wait. Without a time-out it never ends.
func newWatch(timeout time.Duration, cancel context.CancelCauseFunc) *watch {
	w := &watch{timeout: timeout}
	if timeout > 0 {
		w.timer = time.AfterFunc(timeout, func() {
			cancel(fmt.Errorf("%w: less than %d bytes in %v", errSlow, watchBytes, timeout))
		})
	}
	return w
}

func (w *watch) got(n int) {
	if w.bytes += n; w.timer != nil && w.bytes >= watchBytes {
		w.bytes = 0
		w.timer.Reset(w.timeout)
	}
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
