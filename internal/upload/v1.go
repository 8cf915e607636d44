package upload

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
)

// v1 is sym-upload-v1.
type v1 struct {
	u    *Uploader
	base *url.URL
}

// url returns the address followed by the file's place: all files are sent to one address.
func (p *v1) url(f *file) string { return shown(below(p.base, f.parts()...)) }

func (p *v1) send(ctx context.Context, f *file, r *Result) (Outcome, error) {
	contentType, b := form(p.fields(f), "symbol_file", f.Place.Stem+f.Ext, &f.body)
	b.sha, b.checked = [32]byte{}, false
	_, err := p.u.client.do(ctx, &request{
		method: http.MethodPost, url: p.base, header: http.Header{"Content-Type": {contentType}}, body: b, progress: f.progress, carries: r,
	})
	return Uploaded, err
}

// fields returns the fields of Breakpad's client, and the user's, which override them.
func (p *v1) fields(f *file) []Field {
	fields := []Field{
		{"os", f.OS}, {"cpu", f.Arch}, {"debug_file", f.Place.Name}, {"debug_identifier", f.Place.ID},
		{"code_file", cmp.Or(f.CodeFile, f.Place.Name)},
	}
	if f.CodeID != "" {
		fields = append(fields, Field{"code_identifier", f.CodeID})
	}
	fields = slices.DeleteFunc(fields, func(a Field) bool {
		return slices.ContainsFunc(p.u.Fields, func(b Field) bool { return a.Name == b.Name })
	})
	return append(fields, p.u.Fields...)
}
