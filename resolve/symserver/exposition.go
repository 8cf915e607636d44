package symserver

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// exposition is a page in Prometheus' text format 0.0.4: families of metrics, each with its help and its
// type. Prometheus' own library makes such pages, too, but would bring nine modules with it, among them Protocol
// Buffers, and every command would take 0.7 ms more to start.
type exposition struct{ text []byte }

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// family begins a family of metrics. help has neither backslashes nor line ends.
func (p *exposition) family(name, kind, help string) {
	p.text = append(p.text, "# HELP "+name+" "+help+"\n# TYPE "+name+" "+kind+"\n"...)
}

// sample adds a value. labels has names and values in turn.
func (p *exposition) sample(name string, value float64, labels ...string) {
	p.text = append(p.text, name...)
	for i := 0; i < len(labels); i += 2 {
		before := ","
		if i == 0 {
			before = "{"
		}
		p.text = append(p.text, before+labels[i]+`="`+escapeLabel.Replace(labels[i+1])+`"`...)
	}
	if len(labels) > 0 {
		p.text = append(p.text, '}')
	}
	p.text = strconv.AppendFloat(append(p.text, ' '), value, 'g', -1, 64)
	p.text = append(p.text, '\n')
}

func (p *exposition) gauge(name, help string, value float64) {
	p.family(name, "gauge", help)
	p.sample(name, value)
}

func (p *exposition) counter(name, help string, n *atomic.Int64) {
	p.family(name, "counter", help)
	p.sample(name, float64(n.Load()))
}

// results adds a counter for each result.
func (p *exposition) results(name, help string, results []string, counts []atomic.Int64) {
	p.family(name, "counter", help)
	for i, result := range results {
		p.sample(name, float64(counts[i].Load()), "result", result)
	}
}

// histogram adds the buckets, each with what is in those before it.
func (p *exposition) histogram(name, kind string, h *histogram) {
	var n int64
	for i := range h.counts {
		bound := "+Inf"
		if i < len(buckets) {
			bound = strconv.FormatFloat(buckets[i], 'g', -1, 64)
		}
		n += h.counts[i].Load()
		p.sample(name+"_bucket", float64(n), "kind", kind, "le", bound)
	}
	p.sample(name+"_sum", time.Duration(h.sum.Load()).Seconds(), "kind", kind)
	p.sample(name+"_count", float64(n), "kind", kind)
}

// addProcess adds what Prometheus' libraries say of each process, where the system has /proc.
func (p *exposition) addProcess(began time.Time) {
	p.gauge("process_start_time_seconds", "When the server began, since 1970 in seconds.", float64(began.UnixMilli())/1e3)
	// proc(5): numbers follow the name, which is in parentheses and may have any characters; utime is the 14th field.
	const utime, stime, vsize, rss = 14 - 3, 15 - 3, 23 - 3, 24 - 3
	stat, _ := os.ReadFile("/proc/self/stat")
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= rss {
		return
	}
	number := func(i int) float64 {
		v, _ := strconv.ParseFloat(fields[i], 64)
		return v
	}
	const ticks = 100 // a second: USER_HZ of Linux on all CPUs that Go knows
	p.family("process_cpu_seconds_total", "counter", "Processor time of the server, user and system.")
	p.sample("process_cpu_seconds_total", (number(utime)+number(stime))/ticks)
	p.gauge("process_virtual_memory_bytes", "Virtual memory.", number(vsize))
	p.gauge("process_resident_memory_bytes", "Resident memory.", number(rss)*float64(os.Getpagesize()))
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.gauge("process_open_fds", "Open file descriptors.", float64(len(open)))
	}
	limits, _ := os.ReadFile("/proc/self/limits")
	if _, line, ok := strings.Cut(string(limits), "Max open files"); ok {
		soft, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(soft, 64); err == nil {
			p.gauge("process_max_fds", "Limit on open file descriptors.", n)
		}
	}
}
