package debuginfod

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/fetch"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
)

// from fetches e from one server. where is the URL.
func (c *Client) from(ctx context.Context, s *fetch.Server, e *entry) (where string, err error) {
	u := s.URL(append([]string{"buildid", e.id}, strings.Split(e.kind, "/")...)...)
	header := http.Header{}
	if most := c.cfg.MaxSize; most > 0 {
		header.Set("X-Debuginfod-Maxsize", strconv.FormatInt(most, 10))
	}
	client, err := c.patient()
	if err != nil {
		return u.Redacted(), err
	}
	return u.Redacted(), client.Get(ctx, s, u, header, func(head http.Header, body io.Reader) error {
		if size, err := strconv.ParseInt(head.Get("X-Debuginfod-Size"), 10, 64); err == nil {
			if err := client.CheckSize(size); err != nil {
				return err
			}
		}
		return e.Fill(func(w io.Writer) error {
			if e.isSource() {
				return copySource(w, body)
			}
			return copyELF(w, body)
		})
	})
}

// patient returns the client for the next request, which waits no longer than the rest of
// Config.Patience.
func (c *Client) patient() (*fetch.Client, error) {
	if c.cfg.Patience == 0 {
		return c.http, nil
	}
	left := c.cfg.Patience - time.Duration(c.lost.Load())
	if left <= 0 {
		return nil, fmt.Errorf("not asked: the servers that failed took %v", c.cfg.Patience)
	}
	return c.http.Within(left), nil
}

// maxSource is the maximum size of a source file, in bytes.
const maxSource = 16 << 20

// copySource copies a response, up to maxSource bytes.
func copySource(w io.Writer, r io.Reader) error {
	_, err := io.Copy(w, bin.LimitReader(r, maxSource))
	return err
}

// copyELF copies a response if it begins like an ELF file.
func copyELF(w io.Writer, r io.Reader) error {
	var head [len(elfobj.Magic)]byte
	if n, _ := io.ReadFull(r, head[:]); string(head[:n]) != elfobj.Magic {
		return fmt.Errorf("the answer is not an ELF file: it begins with %q", head[:n])
	}
	_, err := io.Copy(w, io.MultiReader(strings.NewReader(elfobj.Magic), r))
	return err
}
