// Package serve is symtool serve.
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

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/resolve/symserver"
)

const serveDescription = `
DIR is a folder with symbol files, NAME/ID/NAME.sym, .sym.gz or .sym.zst, as store
and dump --store make it. They are served under these paths, and with .build-id/,
buildid/HEX/ or xx/yyyy/ below DIR or --debug-dir also those of debuginfod:
/buildid/HEX/debuginfo, executable, section/NAME and source/PATH. POST
/symbolicate/v5 answers stacks as Mozilla's servers do. /metrics is for Prometheus,
/healthz and /readyz for load balancers.

The URL goes to standard output when requests are taken. The first SIGTERM or SIGINT
ends the server when the requests that are under way are answered: the status is 0,
or 1 if some took longer than --drain. Nothing is written to DIR.

SIGHUP opens the files of --access-log and --missing anew, which logrotate has moved;
without them it ends the server. Messages go to standard error: who takes that, such
as systemd's journal, rotates it.
`

// Command is symtool serve.
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
		&cli.StringFlag{Name: "listen", Usage: "listen on `ADDR`, HOST:PORT; port 0 is any that is free", Value: "127.0.0.1:8123"},
		&cli.StringSliceFlag{Name: "debug-dir", Usage: "also serve executables and debug files below `DIR`, such as\n/usr/lib/debug; may be repeated"},
		&cli.StringFlag{Name: "prefix", Usage: "serve files and symbolication below `PREFIX`, such as /v1"},
		&cli.BoolFlag{Name: "gzip", Usage: "compress plain symbol files on the way, for clients that accept it"},
		&cli.StringFlag{Name: "allow-origin", Usage: "let web pages of `ORIGIN`, or * for any, read the answers"},
		&cli.StringFlag{Name: "tls-cert", Usage: "serve HTTPS with the certificate, and those above it, in `FILE` (PEM)"},
		&cli.StringFlag{Name: "tls-key", Usage: "the key of --tls-cert is in `FILE` (PEM)"},
		&cli.StringFlag{Name: "cache-size", Usage: "keep up to `SIZE` bytes of indexed symbol files for symbolication,\nalso with K, M, G or T", Value: "1G"},
		&cli.IntFlag{Name: "max-requests", Usage: "answer up to `N` requests at once, and more with 503", Value: symserver.DefaultMaxRequests},
		&cli.StringFlag{Name: "max-body", Usage: "refuse symbolication requests over `SIZE` bytes", Value: "4M"},
		&cli.IntFlag{Name: "max-frames", Usage: "refuse those with over `N` frames", Value: symserver.DefaultMaxFrames},
		&cli.DurationFlag{Name: "stall", Usage: "end the connection of a client that does not take 1 MiB, or send its\nrequest, in `TIME`", Value: symserver.DefaultStall},
		&cli.DurationFlag{Name: "drain", Usage: "at the end, wait up to `TIME` for requests that are under way", Value: 10 * time.Second},
		&cli.StringFlag{Name: "access-log", Usage: "append a line of JSON for each request to `FILE`; - is standard output"},
		&cli.StringFlag{Name: "missing", Usage: "append modules whose symbols were asked for in vain to `FILE`, each\nonce, up to 100,000, as store ls --missing reads them"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also log what was asked for and is not there"},
	}
}

// serveRun is a call of serve, checked.
type serveRun struct {
	listen    string
	cert, key string
	accessLog string
	missing   string
	verbose   bool
	drain     time.Duration
	cfg       symserver.Config
	stdout    io.Writer
	msgs      *cli.Messages

	logged lately // lines logged lately
}

func newServeRun(c *cli.Context, msgs *cli.Messages) (*serveRun, error) {
	r := &serveRun{
		listen: c.String("listen"), cert: c.String("tls-cert"), key: c.String("tls-key"), accessLog: c.String("access-log"),
		missing: c.String("missing"), verbose: c.Bool("verbose"), drain: c.Duration("drain"), stdout: c.App.Writer, msgs: msgs,
		cfg: symserver.Config{
			Dirs: c.Args().Slice(), DebugDirs: c.StringSlice("debug-dir"), Prefix: c.String("prefix"), MaxRequests: c.Int("max-requests"),
			MaxFrames: c.Int("max-frames"), Stall: c.Duration("stall"), Gzip: c.Bool("gzip"), AllowOrigin: c.String("allow-origin"), Version: version.Version,
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
	defer logs.reopenAtHangup(r.failedLog)()
	r.cfg.Warn = func(line string) { r.log(line) }
	if r.verbose {
		r.cfg.Note = func(line string) { r.msgs.Printf("symtool: %s", line) }
	}
	s, err := symserver.New(r.cfg)
	if err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	conns := newConnections(connectionsPer * r.cfg.MaxRequests)
	h := &http.Server{
		Handler: conns.handler(s), ConnContext: conns.context, ReadHeaderTimeout: min(r.cfg.Stall, 10*time.Second), IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of clients that come and go
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

// connectionsPer is how many connections may be open for each request that may be answered: most
// wait for their next one. Beyond that, the connection that has waited longest is closed.
const connectionsPer = 4

// printURL prints where the server is: to standard output, unless that is the log.
func (r *serveRun) printURL(url string) error {
	if r.accessLog == "-" {
		r.msgs.Printf("symtool: serving %s", url)
		return nil
	}
	return cli.WriteText(r.stdout, url+"\n")
}

// serve takes requests until ctx ends, and then waits for those that are under way.
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

// bareListen drops the addresses of a network error.
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
