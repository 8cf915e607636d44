package upload

import (
	"context"
	"net/http"
	"net/url"
)

// put is plain HTTP.
type put struct {
	u    *Uploader
	base *url.URL
}

func (p *put) url(f *file) string { return shown(below(p.base, f.parts()...)) }

const textType = "text/plain; charset=utf-8"

func (p *put) send(ctx context.Context, f *file, r *Result) (Outcome, error) {
	where := below(p.base, f.parts()...)
	if !p.u.Force {
		there, err := p.there(ctx, where, f)
		if there || err != nil {
			return Present, err
		}
	}
	header := http.Header{"Content-Type": {textType}}
	if f.gzip {
		header.Set("Content-Encoding", "gzip")
	}
	req := &request{method: http.MethodPut, url: where, header: header, body: &f.body, progress: f.progress, carries: r}
	_, err := p.u.client.do(ctx, req)
	if hasStatus(err, http.StatusConflict) {
		// WebDAV's answer if the folder is missing.
		if made := p.makeFolders(ctx, f); made == nil {
			_, err = p.u.client.do(ctx, req)
		}
	}
	return Uploaded, err
}

// there reports whether the file is there, with the same size. A server that does not report the
// size may answer any address with a page.
func (p *put) there(ctx context.Context, where *url.URL, f *file) (bool, error) {
	a, err := p.u.client.do(ctx, &request{method: http.MethodHead, url: where})
	if err != nil {
		var status *statusError
		if asStatus(err, &status) && !status.transient() {
			return false, nil // missing, or the server does not report the size
		}
		return false, err
	}
	size, known := contentLength(a.header)
	coding := a.header.Get("Content-Encoding")
	sameForm := f.gzip == (coding == "gzip") && (coding == "" || coding == "identity" || coding == "gzip")
	return a.status == http.StatusOK && known && sameForm && size == f.body.size, nil
}

// makeFolders creates the folders of a file, if the server can. An existing
// folder is not a failure (405).
func (p *put) makeFolders(ctx context.Context, f *file) error {
	parts := f.parts()
	for i := 1; i < len(parts); i++ {
		where := below(p.base, parts[:i]...)
		where.Path += "/"
		if where.RawPath != "" {
			where.RawPath += "/"
		}
		_, err := p.u.client.do(ctx, &request{method: "MKCOL", url: where})
		if err != nil && !hasStatus(err, http.StatusMethodNotAllowed, http.StatusConflict) {
			return err
		}
	}
	return nil
}
