package symserver

import (
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// buckets are the upper bounds of the histogram's buckets, in seconds.
var buckets = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// statuses have a label of their own; others, such as 499, count together.
var statuses = [...]int{200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 429, 500, 503, 507}

// The results of looking up frames.
const (
	framesFound = iota
	framesUnknown
	framesWithoutSymbols
)

var frameNames = [...]string{"found", "unknown", "no_symbols"}

// uploadNames are the results of uploads: those of adding a file, and one for files that are refused.
var uploadNames = [...]string{store.Added: "added", store.Same: "same", store.Differs: "differs", uploadRefused: "refused"}

const uploadRefused = store.Differs + 1

// metrics counts requests.
type metrics struct {
	version   string
	cacheSize int64
	began     time.Time

	requests [kinds][len(statuses) + 1]atomic.Int64 // by kind and status, the last for other statuses
	bytes    [kinds]atomic.Int64
	times    [kinds]histogram
	frames   [len(frameNames)]atomic.Int64
	uploads  [len(uploadNames)]atomic.Int64

	inFlight, refused, missing                     atomic.Int64
	cacheHits, cacheMisses, cacheErrors, evictions atomic.Int64
	cacheBytes, cacheModules                       atomic.Int64
	loadTime                                       atomic.Int64 // nanoseconds
}

func newMetrics(version string, cacheSize int64) *metrics {
	return &metrics{version: version, cacheSize: cacheSize, began: time.Now()}
}

// histogram counts durations by bucket.
type histogram struct {
	counts [len(buckets) + 1]atomic.Int64 // the last is for what is above all bounds
	sum    atomic.Int64                   // nanoseconds
}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(buckets[:], d.Seconds())
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// observe counts a finished request.
func (m *metrics) observe(k kind, status int, bytes int64, took time.Duration) {
	i := slices.Index(statuses[:], status)
	if i < 0 {
		i = len(statuses)
	}
	m.requests[k][i].Add(1)
	m.bytes[k].Add(bytes)
	m.times[k].observe(took)
}

// page returns all numbers as a page of text.
func (m *metrics) page() []byte {
	var p exposition
	m.addRequests(&p)
	m.addCache(&p)
	p.gauge("go_goroutines", "Goroutines.", float64(runtime.NumGoroutine()))
	p.family("symtool_build_info", "gauge", "The program.")
	p.sample("symtool_build_info", 1, "goversion", runtime.Version(), "version", m.version)
	p.addProcess(m.began)
	return p.text
}

// addRequests adds what is counted by request.
func (m *metrics) addRequests(p *exposition) {
	p.family("symtool_requests_total", "counter", "Finished requests, by kind and status.")
	for k := range kinds {
		for i := range m.requests[k] {
			status := "other"
			if i < len(statuses) {
				status = strconv.Itoa(statuses[i])
			}
			if n := m.requests[k][i].Load(); n > 0 {
				p.sample("symtool_requests_total", float64(n), "kind", k.String(), "status", status)
			}
		}
	}
	p.family("symtool_response_bytes_total", "counter", "Bytes of response bodies sent.")
	for k := range kinds {
		p.sample("symtool_response_bytes_total", float64(m.bytes[k].Load()), "kind", k.String())
	}
	p.family("symtool_request_duration_seconds", "histogram", "From the first byte of a request to the last of its answer.")
	for k := range kinds {
		p.histogram("symtool_request_duration_seconds", k.String(), &m.times[k])
	}
	p.gauge("symtool_requests_in_flight", "Requests being answered.", float64(m.inFlight.Load()))
	p.counter("symtool_requests_refused_total", "Requests answered with 503 because there were too many at once.", &m.refused)
	p.counter("symtool_modules_missing_total", "Requests for modules without symbols.", &m.missing)
	p.results("symtool_frames_total", "Frames of symbolication requests.", frameNames[:], m.frames[:])
	p.results("symtool_uploads_total", "Files that clients sent.", uploadNames[:], m.uploads[:])
}

func (m *metrics) addCache(p *exposition) {
	p.counter("symtool_cache_hits_total", "Modules of symbolication requests whose symbols were indexed.", &m.cacheHits)
	p.counter("symtool_cache_misses_total", "Modules of symbolication requests whose symbols had to be read.", &m.cacheMisses)
	p.counter("symtool_cache_errors_total", "Symbol files that could not be read.", &m.cacheErrors)
	p.counter("symtool_cache_evictions_total", "Symbol files dropped to make room for others.", &m.evictions)
	p.gauge("symtool_cache_bytes", "Approximate memory and temporary files of indexed symbol files.", float64(m.cacheBytes.Load()))
	p.gauge("symtool_cache_modules", "Symbol files that are indexed.", float64(m.cacheModules.Load()))
	p.gauge("symtool_cache_limit_bytes", "Limit on symtool_cache_bytes.", float64(m.cacheSize))
	p.family("symtool_cache_load_seconds_total", "counter", "Time spent reading symbol files.")
	p.sample("symtool_cache_load_seconds_total", time.Duration(m.loadTime.Load()).Seconds())
}

func (s *Server) serveMetrics(w *recorder) {
	w.Header().Set("Cache-Control", "no-store")
	if w.headOnly() {
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(s.metrics.page()) // the client may be gone
}
