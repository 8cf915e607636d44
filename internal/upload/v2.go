package upload

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// v2 is sym-upload-v2.
type v2 struct {
	u    *Uploader
	base *url.URL
}

// breakpadType is the type of a Breakpad symbol file.
const breakpadType = "BREAKPAD"

func (p *v2) url(f *file) string { return shown(below(p.base, f.parts()...)) }

// api returns an address of the API. verb is what follows the last part's colon.
func (p *v2) api(verb string, parts ...string) *url.URL {
	last := len(parts) - 1
	u := p.base.JoinPath("v1")
	for _, part := range parts[:last] {
		u = u.JoinPath(url.PathEscape(part))
	}
	u = u.JoinPath(url.PathEscape(parts[last]) + ":" + verb)
	query := p.base.Query()
	if p.u.client.key != "" {
		query.Set("key", p.u.client.key)
	}
	u.RawQuery = query.Encode()
	return u
}

func (p *v2) send(ctx context.Context, f *file, r *Result) (Outcome, error) {
	if !p.u.Force {
		found, err := p.found(ctx, f)
		if found || err != nil {
			return Present, err
		}
	}
	at, key, err := p.create(ctx)
	if err != nil {
		return Failed, err
	}
	_, err = p.u.client.do(ctx, &request{method: http.MethodPut, url: at, body: &f.body, foreign: true, progress: f.progress, carries: r})
	if err != nil {
		return Failed, fmt.Errorf("uploadUrl on %s: %w", at.Host, err)
	}
	return p.complete(ctx, f, key)
}

// found asks whether the server has the file.
func (p *v2) found(ctx context.Context, f *file) (bool, error) {
	a, err := p.u.client.do(ctx, &request{method: http.MethodGet, url: p.api("checkStatus", "symbols", f.Place.Name, f.Place.ID), most: maxJSON})
	if err != nil {
		return false, fmt.Errorf("checkStatus: %w", err)
	}
	var doc struct{ Status string }
	if err := a.parse(&doc); err != nil {
		return false, fmt.Errorf("checkStatus: %w", err)
	}
	switch doc.Status {
	case "FOUND":
		return true, nil
	case "MISSING", "STATUS_UNSPECIFIED":
		return false, nil
	}
	return false, &refusal{fmt.Errorf("checkStatus: status %q, want FOUND or MISSING", a.say(doc.Status))}
}

// create asks where to send the file. The address in the answer is often on another host, which
// gets nothing but the file.
func (p *v2) create(ctx context.Context) (at *url.URL, key string, err error) {
	a, err := p.u.client.do(ctx, &request{method: http.MethodPost, url: p.api("create", "uploads"), most: maxJSON})
	if err != nil {
		return nil, "", fmt.Errorf("create: %w", err)
	}
	var doc struct{ UploadURL, UploadKey string }
	if err := a.parse(&doc); err != nil {
		return nil, "", fmt.Errorf("create: %w", err)
	}
	if doc.UploadURL == "" || doc.UploadKey == "" {
		return nil, "", &refusal{errors.New("create: the answer has no uploadUrl and uploadKey")}
	}
	if at, err = url.Parse(doc.UploadURL); err != nil {
		return nil, "", &refusal{errors.New("create: invalid uploadUrl")}
	}
	if err := mayGo(p.base, at); err != nil {
		return nil, "", &refusal{fmt.Errorf("create: uploadUrl leads %w", err)}
	}
	return at, doc.UploadKey, nil
}

// complete sends the server the identity of the file. If an answer was lost, the server may no
// longer know the key when asked again; then it is asked for the file.
func (p *v2) complete(ctx context.Context, f *file, key string) (Outcome, error) {
	type symbolID struct {
		File string `json:"debug_file"`
		ID   string `json:"debug_id"`
	}
	text, err := json.Marshal(struct {
		ID   symbolID `json:"symbol_id"`
		Type string   `json:"symbol_upload_type"`
	}{symbolID{f.Place.Name, f.Place.ID}, breakpadType})
	if err != nil {
		return Failed, err
	}
	var tries Result
	a, err := p.u.client.do(ctx, &request{
		method: http.MethodPost, url: p.api("complete", "uploads", key), header: http.Header{"Content-Type": {"application/json"}},
		body: bytesBody(text), most: maxJSON, carries: &tries,
	})
	if err != nil && tries.Tries > 1 && ctx.Err() == nil {
		if found, _ := p.found(ctx, f); found {
			return Uploaded, nil
		}
	}
	if err != nil {
		return Failed, fmt.Errorf("complete: %w", err)
	}
	var doc struct{ Result string }
	if err := a.parse(&doc); err != nil {
		return Failed, fmt.Errorf("complete: %w", err)
	}
	switch doc.Result {
	case "OK":
		return Uploaded, nil
	case "DUPLICATE_DATA":
		return Present, nil
	}
	return Failed, &refusal{fmt.Errorf("complete: result %q, want OK or DUPLICATE_DATA", a.say(doc.Result))}
}
