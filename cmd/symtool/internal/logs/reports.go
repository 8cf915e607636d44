package logs

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/text"
)

// reports reads a log, and holds back crash reports from Apple's systems until their end: only there is the list of
// images, which says from which build of a file the frames are.
type reports struct {
	in        io.Reader
	chunk     []byte
	held      bytes.Buffer // read from in and not yet returned
	ready     int          // number of bytes at the start of held that may be returned
	lineStart bool         // held begins at the start of a line
	err       error        // of in

	images *Maps // images of the report that contains the ready bytes, or nil

	// The report at the start of held.
	inside bool
	parsed int   // number of bytes parsed
	listed *Maps // nil until the list begins
}

// The lines at the start of a report and, in it, of the list of images.
const (
	reportBegins = "Report Version:"
	imagesBegin  = "Binary Images:"
)

// MostReport is the maximum number of bytes that are held back. A report of 500 threads has 4 MB.
const MostReport = 16 << 20

func (r *reports) Read(buf []byte) (int, error) {
	for r.ready == 0 {
		if r.advance(); r.ready > 0 {
			break
		}
		if r.err != nil {
			return 0, r.err
		}
		if r.chunk == nil {
			r.chunk = make([]byte, filterBuffer)
		}
		n, err := r.in.Read(r.chunk)
		r.held.Write(r.chunk[:n])
		r.err = err
	}
	n, err := r.held.Read(buf[:min(len(buf), r.ready)])
	r.ready -= n
	r.lineStart = n > 0 && buf[n-1] == '\n'
	return n, err
}

// advance determines how many of the held bytes may be returned.
func (r *reports) advance() {
	held := r.held.Bytes()
	if !r.inside {
		if r.ready, r.images = r.report(held), nil; r.ready > 0 || len(held) == 0 || r.err == nil && len(held) < len(reportBegins) {
			return
		}
		r.inside, r.parsed, r.listed = true, 0, nil
	}
	if !r.ends(held) && r.err == nil && len(held) <= MostReport {
		return
	}
	if r.listed != nil {
		r.listed.Sort()
	}
	if r.ready = r.parsed; r.err != nil || r.parsed == 0 || len(held) > MostReport {
		r.ready = max(r.parsed, min(len(held), MostReport))
	}
	r.images, r.inside = r.listed, false
}

// report returns the number of bytes before a report, or before an incomplete line that may become the start of one.
func (r *reports) report(held []byte) int {
	for from := 0; ; {
		n := bytes.Index(held[from:], []byte(reportBegins))
		if n < 0 {
			break
		}
		if from += n; from == 0 && r.lineStart || from > 0 && held[from-1] == '\n' {
			return from
		}
		from += len(reportBegins)
	}
	last := bytes.LastIndexByte(held, '\n') + 1
	if r.err == nil && (last > 0 || r.lineStart) && strings.HasPrefix(reportBegins, string(held[last:min(len(held), last+len(reportBegins))])) {
		return last
	}
	return len(held)
}

// ends parses lines of a report, and reports whether the report ends.
func (r *reports) ends(held []byte) bool {
	for r.parsed < len(held) && r.parsed <= MostReport {
		line, _, whole := bytes.Cut(held[r.parsed:], []byte("\n"))
		if !whole && r.err == nil {
			return false
		}
		if r.parsed > 0 && bytes.HasPrefix(line, []byte(reportBegins)) {
			return true
		}
		switch {
		case r.listed == nil && string(bytes.TrimSpace(line)) == imagesBegin:
			r.listed = &Maps{}
		case r.listed != nil && !r.listed.addImage(line):
			return true
		}
		r.parsed = min(r.parsed+len(line)+1, len(held))
	}
	return r.parsed > MostReport
}

// imageLine matches an image in a report. macOS and iOS print different things before the UUID.
var imageLine = pattern(`^\s*0x([0-9a-f]+)\s+-\s+0x([0-9a-f]+)\s+\+?(\S.*?)(?:\s+<([0-9A-Fa-f-]{32,36})>\s*(.*?))?\s*$`)

// addImage adds the image on a line, and reports whether there is one.
func (m *Maps) addImage(line []byte) bool {
	fields := imageLine().FindSubmatch(line)
	if fields == nil {
		return false
	}
	start, err := strconv.ParseUint(string(fields[1]), 16, 64)
	last, lastErr := strconv.ParseUint(string(fields[2]), 16, 64)
	name := text.Base(string(fields[5]))
	if name == "" {
		name, _, _ = strings.Cut(string(fields[3]), " ")
	}
	id := strings.ToUpper(strings.ReplaceAll(string(fields[4]), "-", ""))
	if err != nil || lastErr != nil || last <= start || last+1 == 0 || name == "???" || len(m.ranges) == mostMappings {
		return true // memory that belongs to no file
	}
	if id != "" {
		name += "/" + id + "0"
	}
	m.Add(name, "", start, last+1)
	return true
}

// imageFrame matches a frame in such a report, or as backtrace_symbols returns it on these systems. Names that are
// followed by a file and a line are of no use.
var imageFrame = form{
	Form:  Form{"`N NAME 0xADDR 0xBASE + N`, `N NAME 0xADDR SYMBOL + N`", "macOS, iOS: crash reports, `backtrace_symbols`", "the process, with the list of images; else N from the start of the module or SYMBOL"},
	needs: decimalOffset, line: pattern(`^\s*(?P<number>\d+)\s+(?P<name>\S.*?)\s+0x(?P<addr>[0-9a-f]+) (?P<at>(?:0x(?P<base>[0-9a-f]+)|(?P<symbol>\S.*)) \+ (?P<offset>\d+))\s*$`),
	locate: (*Filter).inImage,
}

// inImage finds the place of a frame.
func (f *Filter) inImage(p *Place, m *match) bool {
	offset, err := strconv.ParseUint(m.text("offset"), 10, 64)
	base, ok := m.number("base")
	if err != nil || !ok || p.Symbol == "" && p.Addr != base+offset {
		return false
	}
	if f.reports == nil || f.reports.images == nil {
		if p.Addr = offset; p.Symbol != "" {
			p.Counts = AfterSymbol
		}
		return true
	}
	at := f.reports.images.inImage(p.Addr, base, p.Name)
	if at == nil {
		return false
	}
	p.Name, p.Addr, p.Symbol, p.Sure = at.name, p.Addr-at.base, "", true
	p.Caller = strings.Trim(m.text("number"), "0") != ""
	return true
}
