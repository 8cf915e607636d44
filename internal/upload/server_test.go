package upload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// crashServer is a server for Breakpad's protocols, written from their descriptions, for
// plain PUT and for Tecken's zips. It stores files and checks requests strictly.
type crashServer struct {
	t   *testing.T
	URL string
	key string // the key that sym-upload-v2 requires; "" for any

	mu        sync.Mutex
	files     map[string]string // by name and id, or path: text
	forms     []map[string]string
	asked     []string      // method, path and query
	heads     []http.Header // of each request
	parked    map[string]string
	next      int
	uploadURL func(key string) string // "" for itself
	// fault may answer instead of the server; it reports whether it did.
	fault func(n int, w http.ResponseWriter, r *http.Request) bool
}

func newCrashServer(t *testing.T) *crashServer {
	t.Helper()
	s := &crashServer{t: t, files: map[string]string{}, parked: map[string]string{}}
	h := httptest.NewUnstartedServer(s)
	// A system that buffers megabytes before the server reads them would make the client
	// report them as sent.
	h.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			if err := c.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
				t.Error(err)
			}
		}
	}
	h.Start()
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

func (s *crashServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
	s.heads = append(s.heads, r.Header.Clone())
	n := len(s.asked)
	s.mu.Unlock()
	if s.fault != nil && s.fault(n, w, r) {
		return
	}
	switch path := r.URL.EscapedPath(); {
	case path == "/v1form":
		s.form(w, r)
	case path == "/zip":
		s.zip(w, r)
	case strings.HasPrefix(path, "/api/v1/"):
		s.api(w, r, strings.TrimPrefix(path, "/api/v1/"))
	case strings.HasPrefix(path, "/parked/") && r.Method == http.MethodPut:
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.parked[strings.TrimPrefix(path, "/parked/")] = string(text)
	default:
		s.plain(w, r)
	}
}

func (s *crashServer) plain(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodHead:
		s.mu.Lock()
		text, ok := s.files[r.URL.Path]
		s.mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	case http.MethodPut:
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.files[r.URL.Path] = string(text)
		w.WriteHeader(http.StatusCreated)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// form is sym-upload-v1.
func (s *crashServer) form(w http.ResponseWriter, r *http.Request) {
	fields, err := readForm(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forms = append(s.forms, fields)
	s.files[fields["debug_file"]+"/"+fields["debug_identifier"]] = fields["symbol_file"]
}

func readForm(r *http.Request) (map[string]string, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	in := multipart.NewReader(r.Body, params["boundary"])
	for {
		p, err := in.NextPart()
		if err == io.EOF {
			return fields, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		if _, twice := fields[p.FormName()]; twice {
			return nil, fmt.Errorf("%s is there twice", p.FormName())
		}
		fields[p.FormName()] = string(text)
		if p.FileName() != "" {
			fields["filename "+p.FormName()] = p.FileName()
		}
	}
}

func (s *crashServer) zip(w http.ResponseWriter, r *http.Request) {
	fields, err := readForm(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	skipped, err := s.unpack(fields["symbols.zip"])
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	s.mu.Lock()
	s.forms = append(s.forms, fields)
	s.mu.Unlock()
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(map[string]any{"upload": map[string]any{"id": 1, "skipped_keys": skipped}})
}

// api is sym-upload-v2; path is what follows /v1/.
func (s *crashServer) api(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key != "" && r.URL.Query().Get("key") != s.key {
		http.Error(w, "no such key: "+r.URL.Query().Get("key"), http.StatusUnauthorized)
		return
	}
	switch name, verb, _ := strings.Cut(path, ":"); verb + " " + r.Method {
	case "checkStatus GET":
		status := "MISSING"
		if _, ok := s.files[strings.TrimPrefix(name, "symbols/")]; ok {
			status = "FOUND"
		}
		json.NewEncoder(w).Encode(map[string]any{"status": status})
	case "create POST":
		s.next++
		key := fmt.Sprintf("k%d", s.next)
		at := s.URL + "/parked/" + key
		if s.uploadURL != nil {
			at = s.uploadURL(key)
		}
		json.NewEncoder(w).Encode(map[string]any{"uploadUrl": at, "uploadKey": key})
	case "complete POST":
		var doc struct {
			ID struct {
				File string `json:"debug_file"`
				ID   string `json:"debug_id"`
			} `json:"symbol_id"`
			Type string `json:"symbol_upload_type"`
		}
		key := strings.TrimPrefix(name, "uploads/")
		text, ok := s.parked[key]
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&doc); err != nil || doc.Type != "BREAKPAD" || !ok || r.Header.Get("Content-Type") != "application/json" {
			http.Error(w, fmt.Sprintf("key %q, type %q: %v", key, doc.Type, err), http.StatusBadRequest)
			return
		}
		delete(s.parked, key)
		result, name := "OK", doc.ID.File+"/"+doc.ID.ID
		if s.files[name] == text {
			result = "DUPLICATE_DATA"
		}
		s.files[name] = text
		json.NewEncoder(w).Encode(map[string]any{"result": result})
	default:
		http.Error(w, "what is that?", http.StatusNotFound)
	}
}

// symbols writes n symbol files below a folder, and returns their paths.
func symbols(t testing.TB, n int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		paths = append(paths, write(t, filepath.Join(dir, fmt.Sprintf("%d.sym", i)), symbolText(fmt.Sprintf("lib%d.so", i), fmt.Sprintf("%032X0", i+1), 50*(i+1))))
	}
	return paths
}

// symbolText returns a symbol file with some functions.
func symbolText(name, id string, functions int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s %s\nINFO CODE_ID %s\n", id, name, strings.ToLower(id))
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 10 0 function_%s_%d\n", i*16+4096, name, i)
	}
	return b.String()
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// send uploads files, and returns the result of each, by its index.
func send(t testing.TB, o Options, paths ...string) []*Result {
	t.Helper()
	results, err := trySend(context.Background(), t, o, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func trySend(ctx context.Context, t testing.TB, o Options, paths ...string) ([]*Result, error) {
	t.Helper()
	o.backOff = time.Millisecond
	if o.Jobs == 0 {
		o.Jobs = 2
	}
	if o.ZipSize == 0 {
		o.ZipSize = 1 << 30
	}
	left := map[string]bool{}
	var mu sync.Mutex
	o.Temporary = func(path string, exists bool) {
		mu.Lock()
		defer mu.Unlock()
		if left[path] = exists; !exists {
			delete(left, path)
		}
	}
	u, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	results := make([]*Result, len(paths))
	err = u.Run(ctx, paths, func(r *Result) {
		if results[r.Item] != nil {
			t.Errorf("item %d is reported twice", r.Item)
		}
		results[r.Item] = r
	})
	for path := range left {
		t.Errorf("%s is left over", path)
	}
	return results, err
}

// outcomes formats results: the outcome of each, and its error if any.
func outcomes(results []*Result) string {
	var words []string
	for _, r := range results {
		word := "nothing"
		if r != nil {
			word = r.Outcome.String()
			if r.Err != nil {
				word += ": " + r.Err.Error()
			}
		}
		words = append(words, word)
	}
	return strings.Join(words, "\n")
}
