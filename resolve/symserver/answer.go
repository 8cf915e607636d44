package symserver

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// answered is the symbol at a frame.
type answered struct {
	module string          // by the symbols' own name; "" if there are none
	start  uint64          // of the function
	frames []resolve.Frame // innermost first; nil if unknown
}

// answers are the answers of a request.
type answers struct {
	jobs  []*job
	of    [][]answered        // by job, for each of its frames
	found map[moduleName]bool // whether there are symbols, for modules that were looked up
	cut   map[moduleName]bool // modules with frames whose names had no room
	limit int                 // bytes of names in all
	left  int                 // bytes of names still allowed
}

// Limits on the bytes of names in an answer, for each frame of its request and in all. Symbols
// may be as hostile as requests: without limits, a name of a megabyte would turn a request of
// kilobytes into gigabytes.
const (
	textPerFrame  = 1 << 10
	textPerAnswer = 4 << 20
)

func newAnswers(jobs []*job) *answers {
	limit := textPerAnswer
	for _, j := range jobs {
		limit += textPerFrame * len(j.frames)
	}
	return &answers{
		jobs: jobs, of: make([][]answered, len(jobs)),
		found: map[moduleName]bool{}, cut: map[moduleName]bool{}, limit: limit, left: limit,
	}
}

// take charges the names of a frame, and reports whether there was room for them.
func (a *answers) take(frames []resolve.Frame) bool {
	for i := range frames {
		a.left -= 64 + len(frames[i].Function) + len(frames[i].File)
	}
	return a.left >= 0
}

// serveSymbolicate answers /symbolicate/v5 and v4.
func (s *Server) serveSymbolicate(w *recorder, r *http.Request, to target) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		w.Header().Set("Accept-Encoding", "identity")
		s.failJSON(w, http.StatusUnsupportedMediaType, "please send requests without Content-Encoding")
		return
	}
	if r.ContentLength > s.cfg.MaxBody { // before a client that asks first sends it
		s.failJSON(w, http.StatusRequestEntityTooLarge, s.bodyLimit())
		return
	}
	_ = w.control.SetReadDeadline(time.Now().Add(s.cfg.Stall))
	jobs, err := readJobs(http.MaxBytesReader(w.ResponseWriter, r.Body, s.cfg.MaxBody), to.name == "v4", s.cfg.MaxFrames)
	var tooLarge *http.MaxBytesError
	var invalid *badRequest
	switch {
	case errors.As(err, &tooLarge):
		s.failJSON(w, http.StatusRequestEntityTooLarge, s.bodyLimit())
		return
	case errors.As(err, &invalid):
		s.failJSON(w, http.StatusBadRequest, invalid.msg)
		return
	case err != nil: // the client has gone, or is too slow
		s.failJSON(w, http.StatusRequestTimeout, "the request is incomplete")
		return
	}
	_ = w.control.SetReadDeadline(time.Time{})
	ctx := r.Context()
	if !take(ctx, s.held) {
		return
	}
	defer func() { <-s.held }()
	a, err := s.compute(ctx, jobs)
	if err != nil {
		if !ended(ctx) {
			s.failJSON(w, http.StatusServiceUnavailable, "the symbols cannot be read now")
		}
		return
	}
	for _, j := range jobs {
		w.frames += len(j.frames)
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(onlyWriter{w}, 64<<10)
	if to.name == "v4" {
		a.writeV4(out)
	} else {
		a.writeV5(out)
	}
	_ = out.Flush()
}

func (s *Server) bodyLimit() string {
	return "please limit requests to " + itoa64(s.cfg.MaxBody) + " bytes"
}

// take waits for a slot; it reports false if ctx ends first.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// compute calls symbolicate, for a limited number of requests at a time. The slot is released
// before the client reads its answer, however slowly.
func (s *Server) compute(ctx context.Context, jobs []*job) (*answers, error) {
	if !take(ctx, s.answers) {
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.answers }()
	return s.symbolicate(ctx, jobs)
}

// failJSON answers with a status and an error in Eliot's form.
func (s *Server) failJSON(w *recorder, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if !w.head {
		_, _ = w.Write(append(quote([]byte(`{"title": `), text), "}\n"...))
	}
}

// quote appends a JSON string.
func quote(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// frameRef is a frame of a request.
type frameRef struct{ job, frame int32 }

// symbolicate looks up all frames, module by module, so that only one module's
// symbols are needed at a time.
func (s *Server) symbolicate(ctx context.Context, jobs []*job) (*answers, error) {
	a := newAnswers(jobs)
	byModule := map[moduleName][]frameRef{}
	var order []moduleName
	for n, j := range jobs {
		a.of[n] = make([]answered, len(j.frames))
		for i, f := range j.frames {
			if f.module < 0 {
				continue
			}
			m := j.modules[f.module]
			if m.name == "" || m.id == "" {
				continue
			}
			if byModule[m] == nil {
				order = append(order, m)
			}
			byModule[m] = append(byModule[m], frameRef{int32(n), int32(i)})
		}
	}
	for _, m := range order {
		if err := s.symbolicateModule(ctx, a, m, byModule[m]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// symbolicateModule looks up the frames of one module.
func (s *Server) symbolicateModule(ctx context.Context, a *answers, m moduleName, frames []frameRef) error {
	entry, err := s.symbolsOf(ctx, m)
	if err != nil {
		return err
	}
	if a.found[m] = entry != nil; entry == nil {
		s.metrics.frames[framesWithoutSymbols].Add(int64(len(frames)))
		return nil
	}
	defer s.modules.release(entry)
	name := entry.codeFile
	if name == "" {
		name = m.name
	}
	var at resolve.Location
	known, damaged := int64(0), len(entry.r.Damage())
	for n, p := range frames {
		if n%1024 == 0 && ended(ctx) {
			return context.Cause(ctx)
		}
		to := &a.of[p.job][p.frame]
		to.module = name
		f := a.jobs[p.job].frames[p.frame]
		if f.none {
			continue
		}
		found, err := entry.r.Find(ctx, symfmt.RVA(f.offset), &at)
		if err != nil {
			s.warnf("%v", err)
			continue
		}
		if found && len(at.Frames) > 0 && !a.take(at.Frames) {
			a.cut[m] = true
			continue
		}
		if found && len(at.Frames) > 0 {
			to.start, to.frames = uint64(at.Start), slices.Clone(at.Frames)
			known++
		}
	}
	if a.cut[m] {
		s.warnf("%s: %s", entry.key, a.cutText())
	}
	if all := entry.r.Damage(); len(all) > damaged { // in functions that were read for the first time
		s.warnf("%s: %d records cannot be read, the first: %v", entry.key, len(all)-damaged, all[damaged].Err)
	}
	s.metrics.frames[framesFound].Add(known)
	s.metrics.frames[framesUnknown].Add(int64(len(frames)) - known)
	return nil
}

// symbolsOf returns the symbols of a module, which must be released, or nil.
func (s *Server) symbolsOf(ctx context.Context, m moduleName) (*entry, error) {
	p, err := store.NewPlace(m.name, m.id)
	if err != nil {
		return nil, nil
	}
	f, err := s.findSymbols(p, symbolExt, wanted(""))
	if f == nil {
		if err == nil {
			s.miss(p)
			s.notef("no symbols of %s/%s", p.Name, p.ID)
		}
		return nil, nil
	}
	return s.modules.acquire(ctx, f, p.ID)
}
