package symserver

import (
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// buckets are the upper ends of those of the histogram, in seconds.
var buckets = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// statuses are those that are answered; others count as the last.
var statuses = [...]int{200, 204, 206, 304, 400, 404, 405, 408, 412, 413, 415, 416, 500, 503, 0}

// What is known of frames.
const (
	framesFound = iota
	framesUnknown
	framesWithoutSymbols
)

var frameNames = [...]string{"found", "unknown", "no_symbols"}

// seconds is a sum of durations.
type seconds struct{ n atomic.Int64 }

func (s *seconds) add(d time.Duration) { s.n.Add(int64(d)) }
func (s *seconds) get() float64        { return time.Duration(s.n.Load()).Seconds() }

// metrics counts. A request costs it a few additions.
type metrics struct {
	began    time.Time
	inFlight atomic.Int64
	refused  atomic.Int64
	missing  atomic.Int64
	requests [kinds][len(statuses)]atomic.Int64
	bytes    [kinds]atomic.Int64
	times    [kinds]histogram
	frames   [len(frameNames)]atomic.Int64

	cacheHits, cacheMisses, cacheErrors, evictions atomic.Int64
	cacheBytes, cacheModules                       atomic.Int64
	loadSeconds                                    seconds
}

type histogram struct {
	counts [len(buckets) + 1]atomic.Int64
	sum    seconds
}

func newMetrics() *metrics { return &metrics{began: time.Now()} }

// observe counts a request that is over.
func (m *metrics) observe(k kind, status int, bytes int64, took time.Duration) {
	i := slices.Index(statuses[:], status)
	if i < 0 {
		i = len(statuses) - 1
	}
	m.requests[k][i].Add(1)
	m.bytes[k].Add(bytes)
	h := &m.times[k]
	b, _ := slices.BinarySearch(buckets[:], took.Seconds())
	h.counts[b].Add(1)
	h.sum.add(took)
}

// page is text in Prometheus' format.
type page struct{ strings.Builder }

// family begins a metric.
func (p *page) family(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// one is a metric of one number.
func (p *page) one(name, kind, help string, value float64) {
	p.family(name, kind, help)
	fmt.Fprintf(p, "%s %s\n", name, ftoa(value))
}

func (s *Server) serveMetrics(w *recorder, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	if !w.head {
		_, _ = w.Write([]byte(s.metricsText()))
	}
}

func (s *Server) metricsText() string {
	m, p := s.metrics, &page{}
	m.writeRequests(p)
	p.one("symtool_requests_in_flight", "gauge", "Requests that are being answered.", float64(m.inFlight.Load()))
	p.one("symtool_requests_refused_total", "counter", "Requests answered with 503 because there were too many at once.", float64(m.refused.Load()))
	p.one("symtool_modules_missing_total", "counter", "Requests for modules without symbols.", float64(m.missing.Load()))
	p.family("symtool_frames_total", "counter", "Frames of symbolication requests.")
	for i, name := range frameNames {
		fmt.Fprintf(p, "symtool_frames_total{result=%q} %d\n", name, m.frames[i].Load())
	}
	p.one("symtool_cache_hits_total", "counter", "Modules of symbolication requests whose symbols were indexed.", float64(m.cacheHits.Load()))
	p.one("symtool_cache_misses_total", "counter", "Modules of symbolication requests whose symbols had to be read.", float64(m.cacheMisses.Load()))
	p.one("symtool_cache_errors_total", "counter", "Symbol files that could not be read.", float64(m.cacheErrors.Load()))
	p.one("symtool_cache_evictions_total", "counter", "Symbol files that made room for others.", float64(m.evictions.Load()))
	p.one("symtool_cache_load_seconds_total", "counter", "Time spent reading symbol files.", m.loadSeconds.get())
	p.one("symtool_cache_bytes", "gauge", "Memory and temporary files of indexed symbol files, about.", float64(m.cacheBytes.Load()))
	p.one("symtool_cache_limit_bytes", "gauge", "How many they may be.", float64(s.cfg.CacheSize))
	p.one("symtool_cache_modules", "gauge", "Symbol files that are indexed.", float64(m.cacheModules.Load()))
	p.family("symtool_build_info", "gauge", "The program.")
	fmt.Fprintf(p, "symtool_build_info{version=%q,goversion=%q} 1\n", s.cfg.Version, runtime.Version())
	p.one("process_start_time_seconds", "gauge", "When the server began, since 1970.", float64(m.began.UnixMilli())/1e3)
	if rss := residentBytes(); rss > 0 {
		p.one("process_resident_memory_bytes", "gauge", "Memory of the process.", rss)
	}
	p.one("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine()))
	return p.String()
}

// writeRequests writes what is counted by kind.
func (m *metrics) writeRequests(p *page) {
	p.family("symtool_requests_total", "counter", "Requests that are over, by what they asked for and status.")
	for k := range kinds {
		for i, status := range statuses {
			if n := m.requests[k][i].Load(); n > 0 {
				text := itoa(status)
				if status == 0 {
					text = "other"
				}
				fmt.Fprintf(p, "symtool_requests_total{kind=%q,status=%q} %d\n", k, text, n)
			}
		}
	}
	p.family("symtool_response_bytes_total", "counter", "Bytes of bodies that were sent.")
	for k := range kinds {
		fmt.Fprintf(p, "symtool_response_bytes_total{kind=%q} %d\n", k, m.bytes[k].Load())
	}
	p.family("symtool_request_duration_seconds", "histogram", "From the first byte of a request to the last of its answer.")
	for k := range kinds {
		m.times[k].write(p, k)
	}
}

func (h *histogram) write(p *page, k kind) {
	const name = "symtool_request_duration_seconds"
	sum := int64(0)
	for i := range h.counts {
		sum += h.counts[i].Load()
		end := "+Inf"
		if i < len(buckets) {
			end = ftoa(buckets[i])
		}
		fmt.Fprintf(p, "%s_bucket{kind=%q,le=%q} %d\n", name, k, end, sum)
	}
	fmt.Fprintf(p, "%s_sum{kind=%q} %s\n%s_count{kind=%q} %d\n", name, k, ftoa(h.sum.get()), name, k, sum)
}

// residentBytes is the memory of the process; 0 where it is not known.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return 0
	}
	return pages * float64(os.Getpagesize())
}
