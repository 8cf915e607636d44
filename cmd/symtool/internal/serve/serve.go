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
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/store"
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
	return &cli.Command{
		Name:        "serve",
		Usage:       "serve symbol files, debug files and symbolication over HTTP",
		UsageText:   "symtool serve [flags] DIR...",
		Description: serveDescription,
		Flags:       serveFlags(),
		Action: func(c *cli.Context) error {
			r, err := newServeRun(c, msgs)
			if err != nil {
				return cli.Usagef("serve", "%v", err)
			}
			return r.run(c.Context)
		},
	}
}

func serveFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "listen", Usage: "listen on `ADDR`, HOST:PORT; port 0 selects a free port (default\n127.0.0.1:8123)", Value: "127.0.0.1:8123"},
		&cli.StringSliceFlag{Name: "debug-dir", Usage: "also serve executables and debug files below `DIR`, such as\n/usr/lib/debug; may be repeated"},
		&cli.StringFlag{Name: "prefix", Usage: "serve files and symbolication below `PREFIX`, such as /v1"},
		&cli.BoolFlag{Name: "gzip", Usage: "compress plain symbol files for clients that accept it"},
		&cli.BoolFlag{Name: "accept-uploads", Usage: "add what clients with a token send to the first DIR"},
		&cli.StringFlag{Name: "token-file", Usage: "accept the tokens whose hashes, roles and names are in `FILE`"},
		&cli.BoolFlag{Name: "private", Usage: "also want a token, of role read or all, for everything but /metrics,\n/healthz and /readyz"},
		&cli.StringFlag{Name: "max-upload", Usage: "refuse files over `SIZE` bytes, compressed or not (default 4G)", Value: "4G"},
		&cli.IntFlag{Name: "upload-rate", Usage: fmt.Sprintf("accept up to `N` files a minute from each token (default %d)", symserver.DefaultUploadRate), Value: symserver.DefaultUploadRate},
		cli.Words(&cli.StringFlag{Name: "compress", Usage: "store symbol files that are sent in `FORM`: none, gzip or zstd (default)", Value: "zstd"}, "none", "gzip", "zstd"),
		&cli.StringFlag{Name: "public-url", Usage: "tell clients of sym-upload-v2 to send files to `URL`, for a server\nbehind a proxy, such as https://symbols.example.com/v1"},
		&cli.StringFlag{Name: "allow-origin", Usage: "let web pages from `ORIGIN` read answers; * for any origin"},
		&cli.StringFlag{Name: "tls-cert", Usage: "serve HTTPS with the certificate chain in `FILE` (PEM)"},
		&cli.StringFlag{Name: "tls-key", Usage: "use the key in `FILE` (PEM) for --tls-cert"},
		&cli.StringFlag{Name: "cache-size", Usage: "keep up to `SIZE` bytes of indexed symbol files for symbolication;\nK, M, G or T may follow the number (default 1G)", Value: "1G"},
		&cli.IntFlag{Name: "max-requests", Usage: fmt.Sprintf("answer up to `N` requests at once, and others with 503 (default %d)", symserver.DefaultMaxRequests), Value: symserver.DefaultMaxRequests},
		&cli.StringFlag{Name: "max-body", Usage: "refuse symbolication requests over `SIZE` bytes (default 4M)", Value: "4M"},
		&cli.IntFlag{Name: "max-frames", Usage: fmt.Sprintf("refuse symbolication requests with over `N` frames (default %d)", symserver.DefaultMaxFrames), Value: symserver.DefaultMaxFrames},
		&cli.DurationFlag{Name: "stall", Usage: "close the connection of a client that does not read 1 MiB, or does\nnot send its request, within `TIME` (default 1m)", Value: symserver.DefaultStall},
		&cli.DurationFlag{Name: "drain", Usage: "at the end, wait up to `TIME` for current requests (default 10s)", Value: 10 * time.Second},
		&cli.StringFlag{Name: "access-log", Usage: "append a line of JSON for each request to `FILE`; - for standard\noutput"},
		&cli.StringFlag{Name: "missing", Usage: "append each module whose symbols were requested but not found to\n`FILE`, once, up to 100,000, in a form that store ls --missing reads"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also log requests for files that are not there"},
	}
}

// serveRun is a call of serve, with its arguments checked.
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

func newServeRun(c *cli.Context, msgs *cli.Messages) (*serveRun, error) {
	r := &serveRun{
		listen: c.String("listen"), cert: c.String("tls-cert"), key: c.String("tls-key"), accessLog: c.String("access-log"),
		missing: c.String("missing"), tokens: c.String("token-file"), verbose: c.Bool("verbose"), drain: c.Duration("drain"), stdout: c.App.Writer, msgs: msgs,
		cfg: symserver.Config{
			Dirs: c.Args().Slice(), DebugDirs: c.StringSlice("debug-dir"), Prefix: c.String("prefix"), MaxRequests: c.Int("max-requests"),
			MaxFrames: c.Int("max-frames"), Stall: c.Duration("stall"), Gzip: c.Bool("gzip"), AllowOrigin: c.String("allow-origin"), Version: version.Version,
			Private: c.Bool("private"), AcceptUploads: c.Bool("accept-uploads"), UploadRate: c.Int("upload-rate"), PublicURL: c.String("public-url"),
			ProgramID: binfile.StoreID, Temporary: cli.StoreOptions(false).Temporary,
		},
	}
	for _, f := range c.Command.Flags {
		name := f.Names()[0]
		switch f.(type) {
		case *cli.StringFlag:
			if c.IsSet(name) && c.String(name) == "" {
				return nil, fmt.Errorf("--%s is empty", name)
			}
		case *cli.IntFlag:
			if n := c.Int(name); n < 1 || n > maxServeCount {
				return nil, fmt.Errorf("--%s is %d, want 1 to %d", name, n, maxServeCount)
			}
		case *cli.DurationFlag:
			if d := c.Duration(name); d < minServeTime || d > maxServeTime {
				return nil, fmt.Errorf("--%s is %v, want %v to %v", name, d, minServeTime, maxServeTime)
			}
		}
	}
	return r, r.check(c)
}

// The limits of numbers and times: a value beyond them is a typing error.
const (
	maxServeCount = 1_000_000
	minServeTime  = 10 * time.Millisecond
	maxServeTime  = 24 * time.Hour
	maxServeBody  = 1 << 30
)

func (r *serveRun) check(c *cli.Context) (err error) {
	if r.cfg.CacheSize, err = cli.ParseSize(c.String("cache-size")); err != nil || r.cfg.CacheSize == 0 {
		return fmt.Errorf("--cache-size is %q, want a number of bytes, or one with K, M, G or T", c.String("cache-size"))
	}
	if r.cfg.MaxBody, err = cli.ParseSize(c.String("max-body")); err != nil || r.cfg.MaxBody == 0 || r.cfg.MaxBody > maxServeBody {
		return fmt.Errorf("--max-body is %q, want a number of bytes up to 1G, or one with K, M or G", c.String("max-body"))
	}
	if r.cfg.MaxUpload, err = cli.ParseSize(c.String("max-upload")); err != nil || r.cfg.MaxUpload == 0 {
		return fmt.Errorf("--max-upload is %q, want a number of bytes, or one with K, M, G or T", c.String("max-upload"))
	}
	for i, how := range store.Compressions {
		if c.String("compress") == how.Name {
			r.cfg.Compression = &store.Compressions[i]
		}
	}
	for _, dir := range r.cfg.Dirs {
		if err := cli.CheckStore(dir, ""); err != nil {
			return err
		}
	}
	for _, dirs := range [][]string{r.cfg.Dirs, r.cfg.DebugDirs} {
		for _, dir := range dirs {
			if dir == "" {
				return errors.New("the name of a folder is empty")
			}
		}
	}
	switch {
	case len(r.cfg.Dirs)+len(r.cfg.DebugDirs) == 0:
		return errors.New("no DIR")
	case r.cfg.AcceptUploads && len(r.cfg.Dirs) == 0:
		return errors.New("--accept-uploads, but no DIR to add files to")
	case (r.cfg.AcceptUploads || r.cfg.Private) && r.tokens == "":
		return errors.New("--accept-uploads and --private want --token-file")
	case r.tokens != "" && !r.cfg.AcceptUploads && !r.cfg.Private:
		return errors.New("--token-file has no effect without --accept-uploads or --private")
	case r.cfg.PublicURL != "" && !strings.HasPrefix(r.cfg.PublicURL, "http://") && !strings.HasPrefix(r.cfg.PublicURL, "https://"):
		return fmt.Errorf("--public-url is %q, want a URL such as https://symbols.example.com/v1", r.cfg.PublicURL)
	case (r.cert == "") != (r.key == ""):
		return errors.New("--tls-cert and --tls-key belong together")
	case r.cfg.Prefix != "" && (!strings.HasPrefix(r.cfg.Prefix, "/") || strings.ContainsAny(r.cfg.Prefix, "%?#\\") || strings.Contains(r.cfg.Prefix, "//") || text.Printable(r.cfg.Prefix) != r.cfg.Prefix):
		return fmt.Errorf("--prefix is %q, want a path such as /v1", r.cfg.Prefix)
	case strings.ContainsAny(r.cfg.AllowOrigin, " ,\r\n"):
		return fmt.Errorf("--allow-origin is %q, want one origin such as https://example.com, or *", r.cfg.AllowOrigin)
	}
	if _, _, err := net.SplitHostPort(r.listen); err != nil {
		return fmt.Errorf("--listen is %q, want HOST:PORT", r.listen)
	}
	return nil
}

// run serves until ctx ends.
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

// connectionsPer is the number of connections allowed for each concurrent request: most wait for
// their next one. Beyond that, the connection that has been idle longest is closed.
const connectionsPer = 4

// printURL prints the server's URL: to standard output, unless that is the log.
func (r *serveRun) printURL(url string) error {
	if r.accessLog == "-" {
		r.msgs.Printf("symtool: serving %s", url)
		return nil
	}
	return cli.WriteText(r.stdout, url+"\n")
}

// serve answers requests until ctx ends, and then waits for those in progress.
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
