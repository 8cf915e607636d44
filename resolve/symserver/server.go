package symserver

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/resolve/symserver/internal/catalog"
)

// Config says what is served, and sets limits.
type Config struct {
	Dirs      []string // stores, searched in this order, also for debug files
	DebugDirs []string // folders with executables and debug files, searched after Dirs
	Prefix    string   // of the paths of files and symbolication: "" or "/v1"

	CacheSize   int64         // of indexed symbol files, in bytes; 0 means 1 GiB
	MaxRequests int           // at once; 0 means 256. Further ones get 503
	MaxBody     int64         // of a symbolication request, in bytes; 0 means 4 MiB
	MaxFrames   int           // of a symbolication request; 0 means 100,000
	Stall       time.Duration // within which a client must read 1 MiB, or send its request; 0 means a minute
	Gzip        bool          // compress plain text for clients that accept it
	AllowOrigin string        // for Access-Control-Allow-Origin; "" for no such header

	// Tokens are the clients that may upload and, if Private is set, those that may read. Without
	// Private, reading needs no token.
	Tokens  *Tokens
	Private bool

	// AcceptUploads lets clients with a token add files to the first of Dirs.
	AcceptUploads bool
	MaxUpload     int64              // of a file, compressed or not, in bytes; 0 means 4 GiB
	UploadRate    int                // files a minute for each token; 0 means 1200
	Compression   *store.Compression // of files that are added; nil for none
	ProgramID     store.ProgramID    // for Windows programs and PDBs; nil refuses them
	PublicURL     string             // of this server, for clients behind a proxy; "" for the host that they ask for
	Temporary     func(path string, exists bool)

	// Access is called with each finished request, Missing with each module whose symbols were
	// requested but missing, Warn with problems such as damaged files, and Note with what was
	// requested but missing. Each may be nil. They may be called concurrently, and must not call the
	// Server.
	Access  func(*Access)
	Missing func(name, id string)
	Warn    func(line string)
	Note    func(line string)
	Version string // of the program, for the metrics
}

// The defaults of Config.
const (
	defaultCacheSize   = 1 << 30
	DefaultMaxRequests = 256
	defaultMaxBody     = 4 << 20
	DefaultMaxFrames   = 100_000
	DefaultStall       = time.Minute
)

// heldPer is the number of answers of symbolication in memory per processor, with up to
// Config.MaxFrames frames each.
const heldPer = 16

// Server answers requests. It implements http.Handler.
type Server struct {
	cfg      Config
	roots    []*root
	requests chan struct{} // a slot for each request
	answers  chan struct{} // a slot for each symbolication being computed
	held     chan struct{} // a slot for each symbolication's answer, which a client may read slowly
	modules  *modules
	metrics  *metrics
	draining atomic.Bool

	tokens  atomic.Pointer[Tokens]
	store   *store.Store  // for uploads; nil if none are accepted
	uploads chan struct{} // a slot for each upload
	pending pending
	began   time.Time

	// What the overview shows, and the work in the background for it, which stops when ending ends.
	catalog    *catalog.Catalog
	missed     catalog.Missed
	measures   catalog.Measures
	measuring  atomic.Bool
	background sync.WaitGroup
	ending     context.Context
	end        context.CancelFunc
}

// New returns a Server of the folders, which it opens. The error names the one that cannot be
// read.
func New(cfg Config) (*Server, error) {
	cfg.CacheSize = cmp.Or(cfg.CacheSize, defaultCacheSize)
	cfg.MaxRequests = cmp.Or(cfg.MaxRequests, DefaultMaxRequests)
	cfg.MaxBody = cmp.Or(cfg.MaxBody, defaultMaxBody)
	cfg.MaxFrames = cmp.Or(cfg.MaxFrames, DefaultMaxFrames)
	cfg.Stall = cmp.Or(cfg.Stall, DefaultStall)
	cfg.MaxUpload = cmp.Or(cfg.MaxUpload, DefaultMaxUpload)
	cfg.UploadRate = cmp.Or(cfg.UploadRate, DefaultUploadRate)
	cfg.Prefix = (&url.URL{Path: "/" + strings.Trim(cfg.Prefix, "/")}).EscapedPath() // in the form of requests
	if cfg.Prefix == "/" {
		cfg.Prefix = ""
	}
	if cfg.Access == nil {
		cfg.Access = func(*Access) {}
	}
	if cfg.Missing == nil {
		cfg.Missing = func(string, string) {}
	}
	if cfg.Warn == nil {
		cfg.Warn = func(string) {}
	}
	if cfg.Note == nil {
		cfg.Note = func(string) {}
	}
	if len(cfg.Dirs)+len(cfg.DebugDirs) == 0 {
		return nil, errors.New("no folder to serve")
	}
	s := &Server{
		cfg:      cfg,
		requests: make(chan struct{}, cfg.MaxRequests),
		answers:  make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
		held:     make(chan struct{}, heldPer*runtime.GOMAXPROCS(0)),
		metrics:  newMetrics(cfg.Version, cfg.CacheSize),
		uploads:  make(chan struct{}, uploadsAt(runtime.GOMAXPROCS(0))),
		pending:  pending{all: map[string]*pendingUpload{}},
		began:    time.Now(),
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.modules = newModules(cfg.CacheSize, s.metrics, s.warnf)
	for _, dirs := range []struct {
		names   []string
		symbols bool
	}{{cfg.Dirs, true}, {cfg.DebugDirs, false}} {
		for _, dir := range dirs.names {
			r, err := openRoot(dir, dirs.symbols)
			if err != nil {
				s.Close()
				return nil, err
			}
			s.roots = append(s.roots, r)
		}
	}
	s.catalog = catalog.New(cfg.Dirs)
	if err := s.openStore(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Close closes the folders and all symbol files. No request may be in flight.
func (s *Server) Close() {
	s.end()
	s.background.Wait()
	s.modules.close()
	s.pending.close()
	if s.store != nil {
		s.store.Close()
	}
	for _, r := range s.roots {
		r.Close()
	}
}

// Drain makes /readyz report that the server is shutting down.
func (s *Server) Drain() { s.draining.Store(true) }

// InFlight returns the number of requests being answered.
func (s *Server) InFlight() int64 { return s.metrics.inFlight.Load() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	to := route(s.cfg.Prefix, r.URL.EscapedPath())
	if s.store == nil && (to.kind == form || to.kind == uploadAPI) {
		to = target{}
	}
	rec := &recorder{ResponseWriter: w, control: http.NewResponseController(w), stall: s.cfg.Stall, head: r.Method == http.MethodHead, guarded: s.needs(r, to) != 0}
	head := rec.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	if s.cfg.AllowOrigin != "" {
		head.Set("Access-Control-Allow-Origin", s.cfg.AllowOrigin)
	}
	s.metrics.inFlight.Add(1)
	defer func() {
		failure := recover()
		s.metrics.inFlight.Add(-1)
		aborted := failure != nil || r.Context().Err() != nil
		s.done(rec, r, to, began, aborted)
		if failure != nil {
			if failure != any(http.ErrAbortHandler) {
				s.warnf("%s %s failed: %v", clip(r.Method), clip(r.URL.EscapedPath()), failure)
			}
			panic(failure) // net/http closes the connection
		}
	}()
	if r.ContentLength != 0 {
		// If the handler does not read the body, net/http does, and would wait forever.
		_ = rec.control.SetReadDeadline(began.Add(s.cfg.Stall))
	}
	rec.extend() // the deadline of the previous request on this connection has passed
	if !to.kind.always() {
		select {
		case s.requests <- struct{}{}:
			defer func() { <-s.requests }()
		default:
			s.metrics.refused.Add(1)
			head.Set("Retry-After", "1")
			s.fail(rec, http.StatusServiceUnavailable, "too many requests at once")
			return
		}
	}
	s.answer(rec, r, to)
	switch {
	case rec.status != 0:
	case ended(r.Context()):
		panic(http.ErrAbortHandler) // a client that only closed its side would take the empty answer for ours
	default:
		rec.WriteHeader(http.StatusOK)
	}
}

// answer passes a request to the handler of its kind.
func (s *Server) answer(w *recorder, r *http.Request, to target) {
	if s.cfg.AllowOrigin != "" && r.Method == http.MethodOptions {
		preflight(w, to)
		return
	}
	allowed := s.methods(to)
	if !slices.Contains(allowed, r.Method) {
		// Unknown paths get it, too: a client that uploads should learn that it cannot here.
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		text := "want " + strings.Join(allowed, " or ")
		if s.store == nil && to.kind != symbolicate {
			text = "this server is read-only: " + text + "; symtool store add puts files into its folders"
		}
		s.failFor(to)(w, http.StatusMethodNotAllowed, text)
		return
	}
	if need := s.needs(r, to); need != 0 && !s.permit(w, r, to, need) {
		return
	}
	switch {
	case to.kind == unknown:
		s.fail(w, http.StatusNotFound, "no such path")
	case to.kind == form || r.Method == http.MethodPut:
		s.receive(w, r, to)
	case to.kind == uploadAPI:
		s.serveAPI(w, r, to)
	case to.kind == overview:
		s.serveOverview(w, r)
	case to.kind == symbols:
		s.serveSymbols(w, r, to)
	case to.kind == program:
		s.serveProgram(w, r, to)
	case to.kind == symbolicate:
		s.serveSymbolicate(w, r, to)
	case to.kind == metricsPage:
		s.serveMetrics(w, r)
	case to.kind == health:
		s.serveHealth(w, to)
	default:
		s.serveBuildID(w, r, to)
	}
}

// methods returns the methods of a kind of path.
func (s *Server) methods(to target) []string {
	reading := []string{http.MethodGet, http.MethodHead}
	switch {
	case to.kind == symbolicate:
		return []string{http.MethodPost}
	case s.store == nil:
		return reading
	case to.kind == form || to.kind == uploadAPI && (to.name == callCreate || to.name == callComplete):
		return []string{http.MethodPost}
	case to.kind == uploadAPI && to.name == callPut:
		return []string{http.MethodPut}
	case to.kind == symbols || to.kind == program && s.cfg.ProgramID != nil:
		return append(reading, http.MethodPut)
	}
	return reading
}

// needs returns the kinds of access of which the request's token must permit one, or 0 if it needs
// no token.
func (s *Server) needs(r *http.Request, to target) access {
	switch {
	case to.kind == uploadAPI && to.name == callPut && s.store != nil:
		return 0 // its key is enough
	case to.kind == uploadAPI && to.name == callStatus:
		return mayRead | mayUpload
	case to.kind == form || to.kind == uploadAPI || r.Method == http.MethodPut:
		return mayUpload
	case s.cfg.Private && to.kind != health && to.kind != metricsPage:
		return mayRead
	}
	return 0
}

// preflight answers a browser that asks what a page of another origin may request.
func preflight(w *recorder, to target) {
	w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
	w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Range, If-None-Match")
	w.Header().Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

// fail answers with a status and a line of text.
func (s *Server) fail(w *recorder, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if !w.head {
		_, _ = w.Write([]byte(text + "\n"))
	}
}

// failFor returns the function that writes failures in the form of the request's target.
func (s *Server) failFor(to target) func(w *recorder, status int, text string) {
	switch to.kind {
	case symbolicate:
		return s.failJSON
	case uploadAPI:
		return s.failAPI
	}
	return s.fail
}

// serveHealth answers /healthz and /readyz.
func (s *Server) serveHealth(w *recorder, to target) {
	if to.name == "readyz" {
		if err := s.ready(); err != nil {
			s.fail(w, http.StatusServiceUnavailable, "not ready: "+err.Error())
			return
		}
	}
	s.fail(w, http.StatusOK, "ok")
}

// ready returns the reason why requests should go elsewhere, or nil.
func (s *Server) ready() error {
	if s.draining.Load() {
		return errors.New("shutting down")
	}
	for i, r := range s.roots {
		if err := r.check(); err != nil {
			s.warnf("%s: not ready: %v", r.dir, err)
			return errors.New("folder " + itoa(i+1) + " cannot be read")
		}
	}
	return nil
}

// ended reports whether the client no longer waits for the answer.
func ended(ctx context.Context) bool { return ctx.Err() != nil }
