package symserver

import (
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/symtool/symtool/resolve/store"
)

// buckets are the upper bounds of the histogram's buckets, in seconds.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// statuses are the statuses with their own label; others, such as 499, are counted together.
var statuses = []int{200, 201, 204, 206, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 429, 500, 503, 507}

// The results of looking up frames.
const (
	framesFound = iota
	framesUnknown
	framesWithoutSymbols
)

var frameNames = [...]string{"found", "unknown", "no_symbols"}

// uploadNames are the results of uploads: the outcomes of adding a file, and one for refused files.
var uploadNames = [...]string{store.Added: "added", store.Same: "same", store.Differs: "differs", uploadRefused: "refused"}

const uploadRefused = store.Differs + 1

// metrics counts requests. Numbers that the server itself reads are atomic; the metrics page
// shows them, too.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec // by kind and status
	bytes    [kinds]prometheus.Counter
	times    [kinds]prometheus.Observer
	frames   [len(frameNames)]atomic.Int64
	uploads  [len(uploadNames)]atomic.Int64

	inFlight, refused, missing                     atomic.Int64
	cacheHits, cacheMisses, cacheErrors, evictions atomic.Int64
	cacheBytes, cacheModules                       atomic.Int64
	loadTime                                       atomic.Int64 // nanoseconds
}

func newMetrics(version string, cacheSize int64) *metrics {
	m := &metrics{}
	reg := prometheus.NewRegistry()
	m.handler = promhttp.HandlerFor(reg, promhttp.HandlerOpts{DisableCompression: true})
	reg.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registerRequests(reg)
	m.registerCache(reg, cacheSize)
	gauge(reg, "go_goroutines", "Goroutines.", func() float64 { return float64(runtime.NumGoroutine()) })
	info := prometheus.Labels{"version": version, "goversion": runtime.Version()}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "symtool_build_info", Help: "The program.", ConstLabels: info}, func() float64 { return 1 }))
	return m
}

// registerRequests registers what is counted by kind.
func (m *metrics) registerRequests(reg *prometheus.Registry) {
	m.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "symtool_requests_total", Help: "Finished requests, by kind and status.",
	}, []string{"kind", "status"})
	sent := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "symtool_response_bytes_total", Help: "Bytes of response bodies sent.",
	}, []string{"kind"})
	times := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "symtool_request_duration_seconds", Help: "From the first byte of a request to the last of its answer.", Buckets: buckets,
	}, []string{"kind"})
	reg.MustRegister(m.requests, sent, times)
	for k := range kinds { // the page has zeros, too
		m.bytes[k], m.times[k] = sent.WithLabelValues(k.String()), times.WithLabelValues(k.String())
	}
	number(reg, gauge, "symtool_requests_in_flight", "Requests being answered.", &m.inFlight)
	number(reg, counter, "symtool_requests_refused_total", "Requests answered with 503 because there were too many at once.", &m.refused)
	number(reg, counter, "symtool_modules_missing_total", "Requests for modules without symbols.", &m.missing)
	for i, name := range frameNames {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "symtool_frames_total", Help: "Frames of symbolication requests.", ConstLabels: prometheus.Labels{"result": name},
		}, func() float64 { return float64(m.frames[i].Load()) }))
	}
	for i, name := range uploadNames {
		reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "symtool_uploads_total", Help: "Files that clients sent.", ConstLabels: prometheus.Labels{"result": name},
		}, func() float64 { return float64(m.uploads[i].Load()) }))
	}
}

func (m *metrics) registerCache(reg *prometheus.Registry, size int64) {
	number(reg, counter, "symtool_cache_hits_total", "Modules of symbolication requests whose symbols were indexed.", &m.cacheHits)
	number(reg, counter, "symtool_cache_misses_total", "Modules of symbolication requests whose symbols had to be read.", &m.cacheMisses)
	number(reg, counter, "symtool_cache_errors_total", "Symbol files that could not be read.", &m.cacheErrors)
	number(reg, counter, "symtool_cache_evictions_total", "Symbol files dropped to make room for others.", &m.evictions)
	number(reg, gauge, "symtool_cache_bytes", "Approximate memory and temporary files of indexed symbol files.", &m.cacheBytes)
	number(reg, gauge, "symtool_cache_modules", "Symbol files that are indexed.", &m.cacheModules)
	gauge(reg, "symtool_cache_limit_bytes", "Limit on symtool_cache_bytes.", func() float64 { return float64(size) })
	counter(reg, "symtool_cache_load_seconds_total", "Time spent reading symbol files.", func() float64 { return time.Duration(m.loadTime.Load()).Seconds() })
}

func counter(reg *prometheus.Registry, name, help string, value func() float64) {
	reg.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
}

func gauge(reg *prometheus.Registry, name, help string, value func() float64) {
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value))
}

// number registers a number as a counter or gauge.
func number(reg *prometheus.Registry, kind func(*prometheus.Registry, string, string, func() float64), name, help string, n *atomic.Int64) {
	kind(reg, name, help, func() float64 { return float64(n.Load()) })
}

// observe counts a finished request.
func (m *metrics) observe(k kind, status int, bytes int64, took time.Duration) {
	text := "other"
	if slices.Contains(statuses, status) {
		text = strconv.Itoa(status)
	}
	m.requests.WithLabelValues(k.String(), text).Inc()
	m.bytes[k].Add(float64(bytes))
	m.times[k].Observe(took.Seconds())
}

func (s *Server) serveMetrics(w *recorder, r *http.Request) {
	if w.headOnly() {
		return
	}
	s.metrics.handler.ServeHTTP(w, r)
}
