package upload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// Protocol is a way to talk to a server.
type Protocol string

const (
	V1  Protocol = "sym-upload-v1"
	V2  Protocol = "sym-upload-v2"
	Put Protocol = "put"
	Zip Protocol = "zip"
	S3  Protocol = "s3"
)

// Protocols lists all protocols.
var Protocols = []Protocol{V1, V2, Put, Zip, S3}

// Field is a field of a form.
type Field struct{ Name, Value string }

// Options say where files are sent, and how.
type Options struct {
	Protocol Protocol
	URL      string // http:, https: or, for S3, s3://BUCKET/PREFIX
	Token    string // "" for none
	Header   http.Header
	Fields   []Field // for V1 and Zip
	Gzip     bool    // Put, S3: with Content-Encoding gzip
	ZipSize  int64   // maximum size of a zip in bytes
	ZipTime  time.Time

	Endpoint, Region string // for S3; "" means AWS and us-east-1

	// NoRole means that the machine is not asked for S3 credentials (EC2, containers).
	NoRole bool

	Force     bool                 // send existing files, too
	Damaged   bool                 // send files with unreadable records, too
	DryRun    bool                 // send nothing
	Wanted    map[store.Place]bool // if non-nil, send these only
	Resume    *Resume              // nil for none
	Jobs      int
	Retries   int           // of each request, after the first try
	Timeout   time.Duration // within which data must be transferred; 0 means no limit
	UserAgent string

	// Temporary is called with each temporary file, and again once it is gone.
	// Log is called with a line for each request and each retry. Progress is
	// called with the number of bytes sent of a file. Each may be nil, and may be
	// called concurrently.
	Temporary func(path string, exists bool)
	Log       func(line string)
	Progress  func(item int, done, total int64)

	// For tests: the first wait, and the sizes of parts; 0 means the usual values.
	backOff                 time.Duration
	partThreshold, partSize int64
}

// Outcome is the outcome of a file.
type Outcome uint8

const (
	Uploaded Outcome = iota
	Present          // it was already on the server
	Resumed          // it was done, by the list of a previous run
	Planned          // it would be sent: a dry run
	Unwanted         // it is not wanted
	Failed           // it was not sent
	Rejected         // it is damaged or unreadable
)

var outcomeNames = [...]string{"uploaded", "present", "resumed", "planned", "unwanted", "failed", "rejected"}

func (o Outcome) String() string { return outcomeNames[o] }

// Result is the outcome of a file.
type Result struct {
	Item    int    // its index
	Path    string // local path
	Place   store.Place
	Target  string // where it is sent: an address without secrets
	Outcome Outcome
	Bytes   int64    // of what is sent; for a file in a zip, of its text
	Tries   int      // number of requests that carried it
	Faults  []string // of a file that was accepted nevertheless
	Err     error    // for Failed and Rejected

	file  *file
	claim *claim // to its place, or nil
	twin  bool   // the claim is another file's, which has the same text
}

// Uploader sends files to one target.
type Uploader struct {
	Options
	client *client
	target target
	turns  turns

	ends        sync.Mutex // held while the outcome of a file is reported
	mu          sync.Mutex
	temporaries map[string]bool // existing files
}

// target sends files by one of the protocols.
type target interface {
	// url returns where a file is sent, for messages and the list of files that are done.
	url(f *file) string
	// send sends a file, or finds that the server has it.
	send(ctx context.Context, f *file, r *Result) (Outcome, error)
}

// New returns an Uploader, after checking the options.
func New(o Options) (*Uploader, error) {
	if o.Temporary == nil {
		o.Temporary = func(string, bool) {}
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(int, int64, int64) {}
	}
	o.Jobs = max(o.Jobs, 1)
	u := &Uploader{Options: o, temporaries: map[string]bool{}}
	u.Temporary = func(path string, exists bool) {
		u.mu.Lock()
		if u.temporaries[path] = exists; !exists {
			delete(u.temporaries, path)
		}
		u.mu.Unlock()
		o.Temporary(path, exists)
	}
	if o.Protocol == S3 {
		return u, u.openBucket()
	}
	base, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	u.client = newClient(&u.Options, base)
	switch o.Protocol {
	case V1:
		u.target = &v1{u, base}
	case V2:
		u.target = &v2{u, base}
	case Put:
		u.target = &put{u, base}
	case Zip:
		u.target = &zipped{u, base}
	default:
		return nil, fmt.Errorf("no protocol %q", o.Protocol)
	}
	return u, nil
}

func parseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("invalid URL") // it may have secrets
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, fmt.Errorf("%q is not an http: or https: URL", shown(base))
	case base.Hostname() == "":
		return nil, fmt.Errorf("%q names no server", shown(base))
	}
	base.Fragment = ""
	return base, nil
}

// shown returns an address as it may be printed: without user, password and query, which may have
// a token.
func shown(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.Fragment, v.RawFragment, v.ForceQuery = nil, "", "", "", false
	return v.String()
}

// below returns an address below another, with the same query. The parts are names, with any
// characters.
func below(base *url.URL, parts ...string) *url.URL {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	u := base.JoinPath(escaped...)
	u.RawQuery = base.RawQuery
	return u
}

// Run sends files. done is called for each, one at a time, in any order. The error is ctx's, or
// one that concerns no single file, such as a full disk for Resume.
func (u *Uploader) Run(ctx context.Context, paths []string, done func(*Result)) error {
	u.turns.init()
	defer u.client.http.CloseIdleConnections()
	defer u.removeTemporaries()
	if u.Protocol == Zip {
		return u.runZips(ctx, paths, done)
	}
	return u.runFiles(ctx, paths, done)
}

// removeTemporaries removes the temporary files of unfinished work.
func (u *Uploader) removeTemporaries() {
	u.mu.Lock()
	left := slices.Collect(maps.Keys(u.temporaries))
	u.mu.Unlock()
	for _, path := range left {
		os.Remove(path)
		u.Temporary(path, false)
	}
}

// compareResults orders results by target, then by path.
func compareResults(a, b *Result) int {
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Item, b.Item))
}

// Sort puts results into an order that does not depend on the network.
func Sort(results []*Result) { slices.SortFunc(results, compareResults) }

// Shown returns where files are sent, without secrets.
func (u *Uploader) Shown() string {
	if u.Protocol == S3 {
		return u.URL
	}
	return shown(u.client.base)
}
