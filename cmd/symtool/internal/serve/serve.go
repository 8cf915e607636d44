// Package serve implements symtool serve.
package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/symserver"
)

const serveDescription = `
DIR is a folder with symbol files, NAME/ID/NAME.sym, .sym.gz or .sym.zst, as
store and dump --store make it. They are served under these paths. Executables
and debug files in .build-id/, buildid/HEX/ or xx/yyyy/ below DIR or --debug-dir
are served under the paths of debuginfod: /buildid/HEX/debuginfo, executable,
section/NAME and source/PATH. POST /symbolicate/v5 answers stacks like Mozilla's
servers. / is a page with what the stores have and what clients asked for in
vain. /metrics is for Prometheus, /healthz and /readyz are for load balancers.

With --accept-uploads, clients with a token add files to the first DIR: PUT at
their place, sym-upload-v1 and Tecken's zips as a form for /upload, and
sym-upload-v2 below /v1, as symtool upload and Breakpad's clients send them.
Files are checked as store add does, appear whole or not at all, and never
replace another. --token-file has the SHA-256 of each token, its role (read,
upload or all) and its name, one a line:

  token=$(openssl rand -hex 32)
  printf %s "$token" | sha256sum | sed 's/ .*/ upload ci/' >> tokens

A client sends its token as Authorization: Bearer, as the password of basic
authentication, as Auth-Token, or as ?key= in the URL.

The URL goes to standard output once requests are accepted. The first SIGTERM or
SIGINT ends the server when the current requests are answered: the status is 0,
or 1 if some took longer than --drain. Without --accept-uploads, nothing is
written to DIR.

SIGHUP reopens the files of --access-log and --missing, for logrotate, and reads
--token-file again; with none of them, it ends the server. Messages go to standard error, and whatever
receives them, such as systemd's journal, rotates them.

Examples:
  symtool serve --listen :8080 symbols
  symtool serve --accept-uploads --token-file tokens symbols
`

// Command returns the command symtool serve.
func Command(msgs *cli.Messages) *cli.Command {
	r := newServeRun(msgs)
	return &cli.Command{
		Name:        "serve",
		Usage:       "serve symbol files, debug files and symbolication over HTTP",
		UsageText:   "symtool serve [flags] DIR...",
		Description: serveDescription,
		Flags:       r.flags(),
		Action: func(c *cli.Context) error {
			r.stdout, r.cfg.Dirs = c.App.Writer, c.Args().Slice()
			if err := r.check(); err != nil {
				return cli.Usagef("serve", "%v", err)
			}
			return r.run(c.Context)
		},
	}
}

// Limits for numbers, times and sizes: a value beyond them is a typing error.
const (
	maxServeCount = 1_000_000
	minServeTime  = 10 * time.Millisecond
	maxServeTime  = 24 * time.Hour
	maxServeBody  = 1 << 30
)

// serveRun is a call of serve.
type serveRun struct {
	listen    string
	cert, key string
	accessLog string
	missing   string
	tokens    string
	verbose   bool
	drain     time.Duration
	cfg       symserver.Config
	server    *symserver.Server
	stdout    io.Writer
	msgs      *cli.Messages

	logged lately // lines logged lately
}

// newServeRun returns a call without flags.
func newServeRun(msgs *cli.Messages) *serveRun {
	return &serveRun{
		listen: "127.0.0.1:8123", drain: 10 * time.Second, msgs: msgs,
		cfg: symserver.Config{
			MaxRequests: symserver.DefaultMaxRequests, MaxFrames: symserver.DefaultMaxFrames, UploadRate: symserver.DefaultUploadRate,
			Stall: symserver.DefaultStall, MaxUpload: 4 << 30, MaxBody: 4 << 20, CacheSize: 1 << 30, Compression: cli.CompressionOf(false, true),
			Version: version.Version, ProgramID: binfile.StoreID, Temporary: cli.StoreOptions(false).Temporary,
		},
	}
}

// flags returns the flags of the command. Their values go to r.
func (r *serveRun) flags() []cli.Flag {
	cfg := &r.cfg
	count, limit := cli.Between(1, maxServeCount), cli.Within(minServeTime, maxServeTime)
	bytes := "a number of bytes, or one with K, M, G or T"
	return []cli.Flag{
		cli.Text("listen", "listen on `ADDR`, HOST:PORT; port 0 selects a free port (default\n127.0.0.1:8123)", &r.listen, cli.Wanted("HOST:PORT", isHostPort)),
		cli.Repeated("debug-dir", "also serve executables and debug files below `DIR`, such as\n/usr/lib/debug; may be repeated", &cfg.DebugDirs, cli.NotEmpty),
		cli.Text("prefix", "serve files and symbolication below `PREFIX`, such as /v1", &cfg.Prefix, cli.Wanted("a path such as /v1", isPrefix)),
		cli.Switch("gzip", "compress plain symbol files for clients that accept it", &cfg.Gzip),
		cli.Switch("accept-uploads", "add what clients with a token send to the first DIR", &cfg.AcceptUploads),
		cli.Text("token-file", "accept the tokens whose hashes, roles and names are in `FILE`", &r.tokens, cli.With("accept-uploads", "private")),
		cli.Switch("private", "also want a token, of role read or all, for everything but /metrics,\n/healthz and /readyz", &cfg.Private),
		cli.SizeFlag("max-upload", "refuse files over `SIZE` bytes, compressed or not (default 4G)", &cfg.MaxUpload, bytes),
		cli.Number("upload-rate", fmt.Sprintf("accept up to `N` files a minute from each token (default %d)", symserver.DefaultUploadRate), &cfg.UploadRate, count),
		cli.OneOf("compress", "store symbol files that are sent in `FORM`: none, gzip or zstd (default)", &cfg.Compression, cli.CompressionWords()),
		cli.Text("public-url", "tell clients of sym-upload-v2 to send files to `URL`, for a server\nbehind a proxy, such as https://symbols.example.com/v1", &cfg.PublicURL, cli.Wanted("a URL such as https://symbols.example.com/v1", isHTTP)),
		cli.Text("allow-origin", "let web pages from `ORIGIN` read answers; * for any origin", &cfg.AllowOrigin, cli.Wanted("one origin such as https://example.com, or *", isOrigin)),
		cli.Text("tls-cert", "serve HTTPS with the certificate chain in `FILE` (PEM)", &r.cert),
		cli.Text("tls-key", "use the key in `FILE` (PEM) for --tls-cert", &r.key),
		cli.SizeFlag("cache-size", "keep up to `SIZE` bytes of indexed symbol files for symbolication;\nK, M, G or T may follow the number (default 1G)", &cfg.CacheSize, bytes),
		cli.Number("max-requests", fmt.Sprintf("answer up to `N` requests at once, and others with 503 (default %d)", symserver.DefaultMaxRequests), &cfg.MaxRequests, count),
		cli.Parsed("max-body", "refuse symbolication requests over `SIZE` bytes (default 4M)", &cfg.MaxBody, "a number of bytes up to 1G, or one with K, M or G", func(text string) (int64, bool) {
			n, ok := cli.ParseSize(text)
			return n, ok && n > 0 && n <= maxServeBody
		}),
		cli.Number("max-frames", fmt.Sprintf("refuse symbolication requests with over `N` frames (default %d)", symserver.DefaultMaxFrames), &cfg.MaxFrames, count),
		cli.Time("stall", "close the connection of a client that does not read 1 MiB, or does\nnot send its request, within `TIME` (default 1m)", &cfg.Stall, limit),
		cli.Time("drain", "at the end, wait up to `TIME` for current requests (default 10s)", &r.drain, limit),
		cli.Text("access-log", "append a line of JSON for each request to `FILE`; - for standard\noutput", &r.accessLog),
		cli.Text("missing", "append each module whose symbols were requested but not found to\n`FILE`, once, up to 100,000, in a form that store ls --missing reads", &r.missing),
		cli.Switch("verbose,v", "also log requests for files that are not there", &r.verbose),
	}
}

func isHostPort(text string) bool {
	_, _, err := net.SplitHostPort(text)
	return err == nil
}

func isPrefix(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsAny(path, "%?#\\") && !strings.Contains(path, "//") && text.Printable(path) == path
}

func isHTTP(url string) bool {
	return strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "https://")
}

func isOrigin(text string) bool { return !strings.ContainsAny(text, " ,\r\n") }

// check checks combinations of flags and operands.
func (r *serveRun) check() error {
	for _, dir := range r.cfg.Dirs {
		if err := cli.CheckStore(dir, ""); err != nil {
			return err
		}
	}
	switch {
	case slices.Contains(r.cfg.Dirs, ""):
		return errors.New("the name of a folder is empty")
	case len(r.cfg.Dirs)+len(r.cfg.DebugDirs) == 0:
		return errors.New("no DIR")
	case r.cfg.AcceptUploads && len(r.cfg.Dirs) == 0:
		return errors.New("--accept-uploads, but no DIR to add files to")
	case (r.cfg.AcceptUploads || r.cfg.Private) && r.tokens == "":
		return errors.New("--accept-uploads and --private want --token-file")
	case (r.cert == "") != (r.key == ""):
		return errors.New("--tls-cert and --tls-key belong together")
	}
	return nil
}

// run runs the server until ctx ends.
func (r *serveRun) run(ctx context.Context) error {
	cli.TuneCollector(cli.ServeCollectorPercent)
	logs, err := r.openLogs()
	if err != nil {
		return err
	}
	defer logs.close()
	r.cfg.Warn = func(line string) { r.log(line) }
	if r.verbose {
		r.cfg.Note = func(line string) { r.msgs.Printf("symtool: %s", line) }
	}
	if r.tokens != "" {
		if r.cfg.Tokens, err = r.readTokens(); err != nil {
			return err
		}
		logs.files = append(logs.files, tokenFile{r})
	}
	s, err := symserver.New(r.cfg)
	if err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	r.server = s
	defer logs.reopenAtHangup(r.failedLog)()
	conns := newConnections(connectionsPer * r.cfg.MaxRequests)
	h := &http.Server{
		Handler: conns.handler(s), ConnContext: conns.context, ReadHeaderTimeout: min(r.cfg.Stall, 10*time.Second), IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // errors of clients that come and go
	}
	scheme := "http"
	if r.cert != "" {
		scheme = "https"
		pair, err := tls.LoadX509KeyPair(r.cert, r.key)
		if err != nil {
			return &cli.StatusError{Status: cli.StatusInput, Err: fmt.Errorf("--tls-cert %s, --tls-key %s: %w", r.cert, r.key, err)}
		}
		h.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	l, err := net.Listen("tcp", r.listen)
	if err != nil {
		return &cli.StatusError{Status: cli.StatusOutput, Err: fmt.Errorf("--listen %s: %w", r.listen, bareListen(err))}
	}
	cli.Grace.Store(int64(r.drain + cli.SignalGrace)) // before the URL is printed
	if err := r.printURL(scheme + "://" + l.Addr().String()); err != nil {
		l.Close()
		return err
	}
	return r.serve(ctx, h, s, conns.listen(l))
}

// connectionsPer is the number of connections allowed for each concurrent request: most
// connections are waiting for their next request. Beyond that number, the connection that has
// been idle longest is closed.
const connectionsPer = 4

// printURL prints the server's URL to standard output, unless the log goes there.
func (r *serveRun) printURL(url string) error {
	if r.accessLog == "-" {
		r.msgs.Printf("symtool: serving %s", url)
		return nil
	}
	return cli.WriteText(r.stdout, url+"\n")
}

// serve answers requests until ctx ends, and then waits for those in progress to finish, at most
// for --drain.
func (r *serveRun) serve(ctx context.Context, h *http.Server, s *symserver.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() {
		if h.TLSConfig != nil {
			failed <- h.ServeTLS(l, "", "")
		} else {
			failed <- h.Serve(l)
		}
	}()
	select {
	case err := <-failed:
		return &cli.StatusError{Status: cli.StatusOutput, Err: fmt.Errorf("--listen %s: %w", r.listen, bareListen(err))}
	case <-ctx.Done():
	}
	s.Drain()
	waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.drain)
	defer cancel()
	if err := h.Shutdown(waiting); err != nil {
		cut := s.InFlight()
		h.Close()
		if cut > 0 {
			r.msgs.Printf("symtool: %s cut off after --drain %v", text.Count(int(cut), "request"), r.drain)
			return &cli.EndedError{Status: cli.StatusFindings}
		}
		return &cli.EndedError{Status: cli.StatusOK}
	}
	s.Close()
	return &cli.EndedError{Status: cli.StatusOK}
}

// log prints a line for the operator, at most once within logAgain.
func (r *serveRun) log(line string) {
	if r.logged.repeats(line, time.Now()) {
		return
	}
	r.msgs.Printf("symtool: %s", line)
}

// bareListen removes the addresses from a network error.
func bareListen(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		var call *os.SyscallError
		if errors.As(op.Err, &call) {
			return call.Err
		}
		return op.Err
	}
	return err
}
