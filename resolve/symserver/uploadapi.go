package symserver

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// The calls of sym-upload-v2.
const (
	callStatus   = "checkStatus"
	callCreate   = "create"
	callPut      = "put"
	callComplete = "complete"
)

// Limits on uploads of sym-upload-v2 between their first call and the last.
const (
	maxPending  = 1024
	pendingTime = 15 * time.Minute
)

// pending are the uploads of sym-upload-v2 that were created, by key.
type pending struct {
	mu  sync.Mutex
	all map[string]*pendingUpload
}

// pendingUpload is an upload that is not yet complete. Whoever knows its key may send its file: the client
// sends no token with it.
type pendingUpload struct {
	mu    sync.Mutex
	token string // the name of the token that created it
	began time.Time
	file  *spool // nil until the file was sent
}

// create returns the key of a new upload, or "" if there are too many. Those that are too old are dropped.
func (p *pending) create(by string, now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, u := range p.all {
		if now.Sub(u.began) > pendingTime {
			delete(p.all, key)
			go u.drop() // its file may still be arriving
		}
	}
	if len(p.all) == maxPending {
		return ""
	}
	var key [16]byte
	_, _ = rand.Read(key[:]) // never fails
	text := hex.EncodeToString(key[:])
	p.all[text] = &pendingUpload{token: by, began: now}
	return text
}

func (p *pending) get(key string) *pendingUpload {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[key]
}

// take removes an upload.
func (p *pending) take(key string) {
	p.mu.Lock()
	u := p.all[key]
	delete(p.all, key)
	p.mu.Unlock()
	if u != nil {
		u.drop()
	}
}

// close drops all uploads.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.all {
		u.drop()
	}
	clear(p.all)
}

// drop removes the file.
func (u *pendingUpload) drop() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file != nil {
		u.file.Close()
		u.file = nil
	}
}

// serveAPI answers a call of sym-upload-v2 other than the one with the file.
func (s *Server) serveAPI(w *recorder, r *http.Request, to target) {
	switch to.name {
	case callStatus:
		s.serveStatus(w, to)
	case callCreate:
		key := s.pending.create(w.token.name, time.Now())
		if key == "" {
			w.Header().Set("Retry-After", "60")
			s.failAPI(w, http.StatusServiceUnavailable, "too many uploads that are not complete")
			return
		}
		s.replyJSON(w, "uploadUrl", s.urlOf(r, "/v1/uploads/"+key), "uploadKey", key)
	case callComplete:
		s.complete(w, r, to)
	}
}

// urlOf returns the URL of a path below the prefix, as the client of a request can reach it.
func (s *Server) urlOf(r *http.Request, path string) string {
	base := url.URL{Scheme: "http", Host: r.Host, Path: s.cfg.Prefix + path}
	if r.TLS != nil {
		base.Scheme = "https"
	}
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/") + path
	}
	return base.String()
}

// serveStatus says whether there are symbols of a module.
func (s *Server) serveStatus(w *recorder, to target) {
	f, err := s.findSymbols(to.place, symbolExt, wanted(""))
	if err != nil {
		s.failAPI(w, http.StatusInternalServerError, "the symbol file exists, but cannot be read")
		return
	}
	status := "MISSING"
	if f != nil {
		f.Close()
		status = "FOUND"
	}
	s.replyJSON(w, "status", status)
}

// receivePending takes the file of an upload.
func (s *Server) receivePending(w *recorder, to target, in *incoming) error {
	u := s.pending.get(to.id)
	if u == nil {
		return refusef(http.StatusNotFound, "no upload has this key, or it is too old")
	}
	sp, err := newSpool(in)
	if err != nil {
		return err
	}
	u.mu.Lock()
	if u.file != nil { // sent again
		u.file.Close()
	}
	u.file = sp
	u.mu.Unlock()
	if s.pending.get(to.id) != u { // dropped meanwhile
		u.drop()
		return refusef(http.StatusNotFound, "the upload is too old")
	}
	s.fail(w, http.StatusOK, "received "+itoa64(sp.size)+" bytes")
	return nil
}

// maxComplete is the longest body of the last call, in bytes.
const maxComplete = 64 << 10

// These match the fields of the last call. Breakpad's client sends JSON whose names have no quotation marks, and
// escapes nothing.
var (
	fileField = regexp.MustCompile(`\bdebug_file"?\s*:\s*"([^"]*)"`)
	idField   = regexp.MustCompile(`\bdebug_id"?\s*:\s*"([^"]*)"`)
	typeField = regexp.MustCompile(`\bsymbol_upload_type"?\s*:\s*"([^"]*)"`)
)

// fieldIn returns the value of a field, or "".
func fieldIn(text []byte, field *regexp.Regexp) string {
	if m := field.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// complete adds the file of an upload to the store.
func (s *Server) complete(w *recorder, r *http.Request, to target) {
	in := s.incomingOf(w, r)
	text, err := io.ReadAll(io.LimitReader(in, maxComplete))
	if err == nil {
		err = s.completeUpload(w, to, text)
	}
	if err != nil {
		s.refuse(w, r, to, in, err)
	}
}

func (s *Server) completeUpload(w *recorder, to target, text []byte) error {
	u := s.pending.get(to.id)
	if u == nil {
		return refusef(http.StatusNotFound, "no upload has this key, or it is too old")
	}
	if kind := cmp.Or(fieldIn(text, typeField), "BREAKPAD"); kind != "BREAKPAD" {
		return refusef(http.StatusBadRequest, "symbol_upload_type is %q, want BREAKPAD", clip(kind))
	}
	at, err := store.NewPlace(fieldIn(text, fileField), fieldIn(text, idField))
	if err != nil {
		return fmt.Errorf("symbol_id: %w", err)
	}
	if u.token != w.token.name {
		return refusef(http.StatusForbidden, "another token began this upload")
	}
	a, err := u.add(s, &at)
	if err != nil {
		return err
	}
	s.pending.take(to.id)
	result := "OK"
	switch a.Outcome {
	case store.Differs:
		return refusef(http.StatusConflict, "%s/%s exists with other contents, and is kept", at.Name, at.ID)
	case store.Same:
		result = "DUPLICATE_DATA"
	}
	s.replyJSON(w, "result", result)
	return nil
}

// add adds the file to the store.
func (u *pendingUpload) add(s *Server, at *store.Place) (*store.Addition, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.file == nil {
		return nil, refusef(http.StatusConflict, "the file was not sent to uploadUrl")
	}
	return s.add(u.file.whole(), at)
}

// replyJSON answers with fields, as names and values. Breakpad's client looks for a blank before a value.
func (s *Server) replyJSON(w *recorder, fields ...string) {
	w.Header().Set("Content-Type", "application/json")
	b := []byte("{")
	for i := 0; i < len(fields); i += 2 {
		b = quote(comma(b, i), fields[i])
		b = quote(append(b, ": "...), fields[i+1])
	}
	w.WriteHeader(http.StatusOK)
	if !w.head {
		_, _ = w.Write(append(b, "}\n"...))
	}
}

// failAPI answers with a status and an error in the form of Google's APIs.
func (s *Server) failAPI(w *recorder, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if !w.head {
		_, _ = w.Write(append(quote([]byte(`{"error": {"code": `+itoa(status)+`, "message": `), text), "}}\n"...))
	}
}
