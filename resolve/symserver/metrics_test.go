package symserver

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
)

// metricsOf returns the values on a page of metrics by name and labels. It checks that each
// family has help and the type that its name implies.
func metricsOf(t *testing.T, text string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	family, kind := "", ""
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			family, kind, _ = strings.Cut(help, " ")
			if kind == "" {
				t.Errorf("no help: %s", line)
			}
			continue
		}
		if typed, ok := strings.CutPrefix(line, "# TYPE "+family+" "); ok {
			kind = typed
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		value, err := strconv.ParseFloat(line[at+1:], 64)
		name := regexp.MustCompile(`^[a-z_]+`).FindString(line)
		want := map[bool]string{true: "counter", false: "gauge"}[strings.HasSuffix(name, "_total")]
		if family != name {
			name, want = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, ""), "histogram"
		}
		if _, again := values[line[:max(at, 0)]]; err != nil || again || family != name || kind != want {
			t.Errorf("%s, after %s of type %q", line, family, kind)
		}
		values[line[:at]] = value
	}
	return values
}

// Each number is counted in its metric.
func TestMetricsText(t *testing.T) {
	s, _ := newServer(t, Config{Dirs: []string{t.TempDir()}, CacheSize: 12345, Version: `1.0 "x"`})
	m := s.metrics
	want := map[string]float64{
		`symtool_requests_total{kind="section",status="other"}`: 2, `symtool_response_bytes_total{kind="section"}`: 7,
		`symtool_response_bytes_total{kind="health"}`: 0,
		"symtool_cache_limit_bytes":                   12345, "symtool_requests_in_flight": 1,
	}
	codes := []int{200, 204, 206, 304, 400, 404, 405, 408, 412, 413, 415, 416, 500, 503}
	for i, code := range codes {
		for range i + 1 {
			m.observe(symbols, code, 10, 0)
		}
		want[fmt.Sprintf(`symtool_requests_total{kind="symbols",status="%d"}`, code)] = float64(i + 1)
	}
	want[`symtool_response_bytes_total{kind="symbols"}`] = 10 * 14 * 15 / 2
	m.observe(section, 418, 3, time.Millisecond)           // a bucket includes its end
	m.observe(section, 0, 4, 61*time.Second+time.Second/2) // after the last bucket
	for _, b := range buckets {
		want[fmt.Sprintf(`symtool_request_duration_seconds_bucket{kind="section",le="%v"}`, b)] = map[bool]float64{true: 1}[b >= .001]
	}
	want[`symtool_request_duration_seconds_bucket{kind="section",le="+Inf"}`] = 2
	want[`symtool_request_duration_seconds_count{kind="section"}`] = 2
	want[`symtool_request_duration_seconds_sum{kind="section"}`] = 61.501
	want[`symtool_request_duration_seconds_count{kind="health"}`] = 0
	for i, result := range []string{"found", "unknown", "no_symbols"} {
		m.frames[i].Store(int64(50 + i))
		want[fmt.Sprintf(`symtool_frames_total{result=%q}`, result)] = float64(50 + i)
	}
	m.refused.Store(20)
	m.missing.Store(21)
	m.cacheHits.Store(22)
	m.cacheMisses.Store(23)
	m.cacheErrors.Store(24)
	m.evictions.Store(25)
	m.cacheBytes.Store(26)
	m.cacheModules.Store(27)
	m.loadTime.Add(int64(28500 * time.Millisecond))
	for i, name := range []string{"requests_refused_total", "modules_missing_total", "cache_hits_total", "cache_misses_total", "cache_errors_total", "cache_evictions_total", "cache_bytes", "cache_modules"} {
		want["symtool_"+name] = float64(20 + i)
	}
	want["symtool_cache_load_seconds_total"] = 28.5
	got := metricsOf(t, body(t, ask(t, s, http.MethodGet, "/metrics", nil)))
	for name, value := range want {
		if v, ok := got[name]; !ok || v != value {
			t.Errorf("%s is %v, want %v", name, v, value)
		}
	}
	if _, err := os.Stat("/proc/self/statm"); err == nil && got["process_resident_memory_bytes"] < 1e5 {
		t.Errorf("%v bytes of memory", got["process_resident_memory_bytes"])
	}
	if text := fmt.Sprint(buckets); text != "[0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60]" {
		t.Errorf("%s: the buckets changed, so histograms cannot be compared over time", text)
	}
	for _, kind := range kindNames {
		if _, ok := got[fmt.Sprintf(`symtool_request_duration_seconds_bucket{kind=%q,le="60"}`, kind)]; !ok {
			t.Errorf("no times of %s", kind)
		}
	}
	if began := got["process_start_time_seconds"]; math.Abs(began-float64(time.Now().UnixMilli())/1e3) > 3600 {
		t.Errorf("began at %f", began)
	}
	if n := got["go_goroutines"]; n < 1 || n > 1e5 {
		t.Errorf("%v goroutines", n)
	}
	if got[fmt.Sprintf(`symtool_build_info{goversion=%q,version="1.0 \"x\""}`, runtime.Version())] != 1 {
		t.Error("no version")
	}
	r := ask(t, s, http.MethodGet, "/metrics", nil)
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8") || r.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", r.Header)
	}
	if got := metricsOf(t, body(t, r)); got["symtool_requests_in_flight"] != 1 {
		t.Errorf("%v requests in flight", got["symtool_requests_in_flight"])
	}
}

// A good module is not mentioned in the log.
func TestGoodModule(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "ABC0", ".sym", symbolText("a.so", "ABC0", 100))
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	for range 3 {
		symbolicateAll(t, s, "a.so", "ABC0", []uint64{4096})
	}
	m := s.metrics
	if notes.String() != "" || m.cacheErrors.Load() != 0 || m.cacheMisses.Load() != 1 || m.cacheHits.Load() != 2 || m.cacheModules.Load() != 1 || m.cacheBytes.Load() <= entryCost || m.loadTime.Load() <= 0 {
		t.Errorf("%s; %d errors, %d misses, %d hits, %d modules, %d bytes", notes, m.cacheErrors.Load(), m.cacheMisses.Load(), m.cacheHits.Load(), m.cacheModules.Load(), m.cacheBytes.Load())
	}
	if got := m.frames[framesFound].Load(); got != 3 {
		t.Errorf("%d frames", got)
	}
	keep(t, dir, "bad.so", "ABC0", ".sym", []byte("no symbols at all\n"))
	ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["bad.so","ABC0"],["a.so","ABC0"]],"stacks":[[[0,1],[0,2],[1,1]]]}`))
	if m.cacheErrors.Load() != 1 || m.frames[framesWithoutSymbols].Load() != 2 || m.frames[framesUnknown].Load() != 1 {
		t.Errorf("%d errors, %d frames without symbols, %d unknown", m.cacheErrors.Load(), m.frames[framesWithoutSymbols].Load(), m.frames[framesUnknown].Load())
	}
}

// Only modules that could exist are listed as missing.
func TestMissingNames(t *testing.T) {
	var missing []string
	s, notes := newServer(t, Config{Dirs: []string{t.TempDir()}, Missing: func(name, id string) { missing = append(missing, name+"/"+id) }})
	got := body(t, ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["..","AB0"],["a.so","AB0"],["a\u0000","AB0"]],"stacks":[[[0,1],[1,2],[2,3]]]}`)))
	if strings.Count(got, ": false") != 3 || strings.Join(missing, " ") != "a.so/AB0" || notes.String() != "" {
		t.Errorf("%q are missing, logged %q: %s", missing, notes, got)
	}
}

// A single unreadable record is reported; missing files are named; size and time are separate in a
// tag.
func TestMessages(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "ABC0", ".sym", append(symbolText("a.so", "ABC0", 100), "FUNC what\n"...))
	s, notes := newServer(t, Config{Dirs: []string{dir}})
	symbolicateAll(t, s, "a.so", "ABC0", []uint64{4096})
	if !strings.Contains(notes.String(), "a.so.sym: 1 records cannot be read, the first: ") {
		t.Error(notes)
	}
	for path, want := range map[string]string{"/buildid/abcd/debuginfo": "no debuginfo of this build-id\n", "/buildid/abcd/section/.x": "no section of this build-id\n", "/b/AB0/b.sym": "no symbols of this module\n", "/x": "no such path\n"} {
		if got := body(t, ask(t, s, http.MethodGet, path, nil)); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	f := &file{size: 0x12, time: 0x3}
	if f.etag("") != `"12-3"` || f.etag("gzip") != `"12-3-gzip"` {
		t.Error(f.etag(""), f.etag("gzip"))
	}
}

// Folders of debug files have no symbol files, and the reason why a server is not ready is in the
// answer.
func TestDebugDirs(t *testing.T) {
	dir, debugDir := filepath.Join(t.TempDir(), "store"), t.TempDir()
	keep(t, dir, "a.so", "AB0", ".sym", symbolText("a.so", "AB0", 100))
	keep(t, debugDir, "b.so", "AB0", ".sym", symbolText("b.so", "AB0", 100))
	s, notes := newServer(t, Config{Dirs: []string{dir}, DebugDirs: []string{debugDir}})
	for path, want := range map[string]int{"/a.so/AB0/a.so.sym": 200, "/b.so/AB0/b.so.sym": 404, "/readyz": 200, "/healthz": 200} {
		r := ask(t, s, http.MethodGet, path, nil)
		if r.StatusCode != want || strings.HasSuffix(path, "z") && r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, s, http.MethodGet, "/readyz", nil); r.StatusCode != 503 || !strings.Contains(notes.String(), dir+": not ready: no such file or directory") {
		t.Errorf("%d, logged %q", r.StatusCode, notes)
	}
	// Numbers are decimal.
	modules := strings.Repeat(`["x","AB"],`, 10) + `["y","AB"]`
	if got := body(t, ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[`+modules+`],"stacks":[[[10,10]]]}`))); !strings.Contains(got, `"module": "y", "module_offset": "0xa"`) {
		t.Error(got)
	}
}

// Line number 0 is left out, and text that is not UTF-8 is converted.
func TestAnswerTexts(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "ABC0", ".sym", []byte("MODULE Linux x86_64 ABC0 a.so\nFILE 0 a.c\nFUNC 1000 10 0 f\xffg\n1000 8 0 0\n1008 8 1 0\n"))
	s, _ := newServer(t, Config{Dirs: []string{dir}})
	got := body(t, ask(t, s, "POST", "/symbolicate/v5", []byte(`{"memoryMap":[["a.so","ABC0"]],"stacks":[[[0,4096],[0,4104]]]}`)))
	want := `{"results":[{"stacks":[[{"frame":0,"module":"a.so","module_offset":"0x1000","function":"f` + "\ufffd" + `g","function_offset":"0x0","file":"a.c"},
		{"frame":1,"module":"a.so","module_offset":"0x1008","function":"f` + "\ufffd" + `g","function_offset":"0x8","file":"a.c","line":1}]],"found_modules":{"a.so/ABC0":true}}]}`
	if !sameJSON(t, got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A file is sent in pieces, and nothing after the end of a range is sent.
func TestReadFrom(t *testing.T) {
	data := make([]byte, 3*piece)
	for i := range data {
		data[i] = byte(i >> 12)
	}
	path := write(t, filepath.Join(t.TempDir(), "file"), data)
	for _, c := range []struct{ limit, want int64 }{{0, 0}, {10, 10}, {small, small}, {small + 1, small + 1}, {piece - 1, piece - 1}, {piece, piece}, {piece + 1, piece + 1}, {2*piece + 7, 2*piece + 7}, {3 * piece, 3 * piece}, {4 * piece, 3 * piece}} {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		to := &fileTaker{ResponseWriter: nobody{}}
		w := &recorder{ResponseWriter: to, control: http.NewResponseController(to), stall: time.Second}
		n, err := w.ReadFrom(&io.LimitedReader{R: f, N: c.limit})
		f.Close()
		asFile := c.limit > small // less is sent with the header, in one write
		if err != nil || n != c.want || w.bytes != c.want || string(to.got) != string(data[:c.want]) || to.longest > piece || to.longest > 0 != asFile || w.status != 200 {
			t.Errorf("%d: %d bytes, %d counted, %d taken, %d as a file at once, status %d, %v", c.limit, n, w.bytes, len(to.got), to.longest, w.status, err)
		}
	}
}

// fileTaker is a ResponseWriter that is also an io.ReaderFrom, like net/http's.
type fileTaker struct {
	http.ResponseWriter
	got     []byte
	longest int64
}

func (f *fileTaker) ReadFrom(r io.Reader) (int64, error) {
	b, err := io.ReadAll(r)
	f.got = append(f.got, b...)
	f.longest = max(f.longest, int64(len(b)))
	return int64(len(b)), err
}

func (f *fileTaker) Write(p []byte) (int, error) {
	f.got = append(f.got, p...)
	return len(p), nil
}

type nobody struct{}

func (nobody) Header() http.Header         { return http.Header{} }
func (nobody) WriteHeader(int)             {}
func (nobody) Write(b []byte) (int, error) { return len(b), nil }

// A request that has ended is neither computed nor answered: net/http would send an empty answer
// with status 200, which a client that closed only its side of the connection would accept.
func TestOver(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a.so", "ABC0", ".sym", symbolText("a.so", "ABC0", 100))
	var log []Access
	s, _ := newServer(t, Config{Dirs: []string{dir}, Access: func(a *Access) { log = append(log, *a) }})
	symbolicateAll(t, s, "a.so", "ABC0", []uint64{4096}) // it is in the cache now
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		jobs := []*job{{modules: []moduleName{{"a.so", "ABC0"}}, frames: []frame{{offset: 4096}}, ends: []int{1}}}
		if a, err := s.symbolicate(ctx, jobs); a != nil || err != context.Canceled {
			t.Errorf("%v, %v", a, err)
		}
	}
	log = nil
	for range 20 {
		r := httptest.NewRequest("POST", "/symbolicate/v5", strings.NewReader(`{"memoryMap":[["a.so","ABC0"]],"stacks":[[[0,4096]]]}`)).WithContext(ctx)
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if failure := recover(); failure != any(http.ErrAbortHandler) || w.Body.Len() > 0 {
					t.Errorf("%v, answered: %s", failure, w.Body)
				}
			}()
			s.ServeHTTP(w, r)
		}()
	}
	if len(log) != 20 || log[0].Status != 499 || !log[0].Aborted || log[0].Frames != 0 {
		t.Errorf("%+v", log)
	}
}

// Text that is long enough is compressed for clients that accept it.
func TestPacked(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"short": gzipFrom - 1, "long": gzipFrom} {
		text := fmt.Sprintf("MODULE Linux x86_64 A0 %s\n", name)
		keep(t, dir, name, "A0", ".sym", []byte(text+strings.Repeat("\n", size-len(text))))
	}
	for _, packing := range []bool{false, true} {
		s, _ := newServer(t, Config{Dirs: []string{dir}, Gzip: packing})
		for _, name := range []string{"short", "long"} {
			for _, accept := range []string{"", "gzip", ", gzip", "zstd"} {
				r := ask(t, s, http.MethodGet, "/"+name+"/A0/"+name+".sym", nil, "Accept-Encoding", accept)
				want := ""
				if packing && name == "long" && strings.Contains(accept, "gzip") {
					want = "gzip"
				}
				if got := r.Header.Get("Content-Encoding"); got != want {
					t.Errorf("packing %v, %s, %q: %q, want %q", packing, name, accept, got, want)
				}
			}
		}
	}
}

// Long texts of clients are cut where they are logged.
func TestClip(t *testing.T) {
	for n, want := range map[int]int{maxLogged - 1: maxLogged - 1, maxLogged: maxLogged, maxLogged + 1: maxLogged + 3} {
		if got := clip(strings.Repeat("x", n)); len(got) != want {
			t.Errorf("%d: %d, want %d", n, len(got), want)
		}
	}
}

// A closed server has no open files.
func TestFilesAreClosed(t *testing.T) {
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc/self/fd")
		}
		return len(all)
	}
	dir, id, whole := elfFolder(t, "build-id")
	keep(t, dir, "a.so", "ABC0", ".sym", symbolText("a.so", "ABC0", 2000))
	keep(t, dir, "b.so", "ABC0", ".sym.gz", symbolText("b.so", "ABC0", 2000))
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection would close forgotten files
	before := count()
	s, err := New(Config{Dirs: []string{dir}, Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	opened := count()
	for _, path := range []string{"/a.so/ABC0/a.so.sym", "/b.so/ABC0/b.so.sym", "/b.so/ABC0/b.so.sym.gz", "/a.so/ABC0/a.so.sym.gz", "/readyz", "/buildid/" + id + "/debuginfo",
		"/buildid/" + id + "/section/.debug_info", "/buildid/" + id + "/section/.text", "/buildid/" + whole + "/debuginfo", "/buildid/" + whole + "/section/.none", "/.build-id/AB/x.sym"} {
		for _, accept := range []string{"", "gzip"} {
			ask(t, s, "GET", path, nil, "Accept-Encoding", accept)
			if n := count(); n != opened {
				t.Errorf("%s: %d files are open, before it %d", path, n, opened)
				opened = n
			}
		}
	}
	symbolicateAll(t, s, "a.so", "ABC0", []uint64{4096})
	symbolicateAll(t, s, "b.so", "ABC0", []uint64{4096})
	s.Close()
	if after := count(); after != before {
		t.Errorf("%d files are open, %d at the beginning", after, before)
	}
}
