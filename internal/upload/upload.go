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

// Protocol is a way to talk with a server.
type Protocol string

const (
	V1  Protocol = "sym-upload-v1"
	V2  Protocol = "sym-upload-v2"
	Put Protocol = "put"
	Zip Protocol = "zip"
	S3  Protocol = "s3"
)

// Protocols are all of them.
var Protocols = []Protocol{V1, V2, Put, Zip, S3}

// Field is a field of a form.
type Field struct{ Name, Value string }

// Options say where files go and how.
type Options struct {
	Protocol Protocol
	URL      string // http:, https: or, for S3, s3://BUCKET/PREFIX
	Token    string // "" for none
	Header   http.Header
	Fields   []Field // of V1 and Zip
	Gzip     bool    // Put, S3: with Content-Encoding gzip
	ZipSize  int64   // the size of the largest zip, in bytes
	ZipTime  time.Time

	Endpoint, Region string // of S3; "" for AWS's own, and us-east-1

	// NoRole: credentials of S3 are not asked of the machine (EC2, containers).
	NoRole bool

	Force     bool                 // send existing files, too
	Damaged   bool                 // send files with records that cannot be read, too
	DryRun    bool                 // send nothing
	Wanted    map[store.Place]bool // if non-nil, these only
	Resume    *Resume              // nil for none
	Jobs      int
	Retries   int           // after the first try, of each request
	Timeout   time.Duration // in which something must move; 0 means no limit
	UserAgent string

	// Temporary is called with each temporary file, and again when it has gone. Log is
	// called with a line for each request and for each retry. Progress is called with
	// the number of bytes of a file that were sent. Each may be nil, and may be called
	// concurrently.
	Temporary func(path string, exists bool)
	Log       func(line string)
	Progress  func(item int, done, total int64)

	// For tests: the first wait, and the sizes of parts; 0 is what holds without them.
	backOff                 time.Duration
	partThreshold, partSize int64
}

// Outcome is what became of a file.
type Outcome uint8

const (
	Uploaded Outcome = iota
	Present          // it was there already
	Resumed          // by the list of what is done
	Planned          // it would be sent: a dry run
	Unwanted         // it is not on the list
	Failed           // it was not sent
	Rejected         // it is damaged, or cannot be read
)

var outcomeNames = [...]string{"uploaded", "present", "resumed", "planned", "unwanted", "failed", "rejected"}

func (o Outcome) String() string { return outcomeNames[o] }

// Result is what became of a file.
type Result struct {
	Item    int    // its index
	Path    string // on this machine
	Place   store.Place
	Target  string // where it goes: an address without secrets
	Outcome Outcome
	Bytes   int64    // of what is sent; of a file in a zip, its text
	Tries   int      // requests that carried it
	Faults  []string // of a file that was taken all the same
	Err     error    // of Failed and Rejected

	file  *file
	claim *claim // on its place, or nil
	twin  bool   // the claim is another file's, which has the same text
}

// Uploader sends files to one place.
type Uploader struct {
	Options
	client *client
	target target
	turns  turns

	ends        sync.Mutex // held while the outcome of a file is reported
	mu          sync.Mutex
	temporaries map[string]bool // files that exist
}

// A target is a protocol.
type target interface {
	// url is where a file goes, for messages and the list of what is done.
	url(f *file) string
	// send sends a file, or finds that it is there.
	send(ctx context.Context, f *file, r *Result) (Outcome, error)
}

// New checks options.
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
		return nil, errors.New("the URL cannot be read") // it may have secrets
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

// shown returns an address as it may be printed: without name, password and query, which
// may have a token.
func shown(u *url.URL) string {
	v := *u
	v.User, v.RawQuery, v.Fragment, v.RawFragment, v.ForceQuery = nil, "", "", "", false
	return v.String()
}

// below returns an address below another, whose query stays. The parts are names, with
// any characters.
func below(base *url.URL, parts ...string) *url.URL {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	u := base.JoinPath(escaped...)
	u.RawQuery = base.RawQuery
	return u
}

// Run sends files. done is called for each, one at a time, in any order. The error is
// that of ctx or of what is not about one file, such as a full disk under Resume.
func (u *Uploader) Run(ctx context.Context, paths []string, done func(*Result)) error {
	u.turns.init()
	defer u.client.http.CloseIdleConnections()
	defer u.removeTemporaries()
	if u.Protocol == Zip {
		return u.runZips(ctx, paths, done)
	}
	return u.runFiles(ctx, paths, done)
}

// removeTemporaries removes what is left of files whose work did not come to its end.
func (u *Uploader) removeTemporaries() {
	u.mu.Lock()
	left := slices.Collect(maps.Keys(u.temporaries))
	u.mu.Unlock()
	for _, path := range left {
		os.Remove(path)
		u.Temporary(path, false)
	}
}

// compareResults orders results by where they go, then by where they are from.
func compareResults(a, b *Result) int {
	return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Item, b.Item))
}

// Sort puts results into an order that does not depend on the network.
func Sort(results []*Result) { slices.SortFunc(results, compareResults) }

// Shown returns where files go, without secrets.
func (u *Uploader) Shown() string {
	if u.Protocol == S3 {
		return u.URL
	}
	return shown(u.client.base)
}
