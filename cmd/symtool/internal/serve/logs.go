package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/symserver"
)

// maxMissing is the maximum number of modules in a --missing list: clients may request anything.
const maxMissing = 100_000

// serveLogs holds the files that serve appends to, and the files that it reads again.
type serveLogs struct{ files []reopened }

// reopened is a file that is opened again at SIGHUP.
type reopened interface {
	reopen() error // an error has the file's name
	close()
}

func (l *serveLogs) close() {
	for _, f := range l.files {
		f.close()
	}
}

// reopenAtHangup reopens the files at each SIGHUP, which is sent after logs are rotated, until
// stop is called. Without files, SIGHUP has its usual effect.
func (l *serveLogs) reopenAtHangup(failed func(err error)) (stop func()) {
	if len(l.files) == 0 {
		return func() {}
	}
	return cli.AtHangup(func() {
		for _, f := range l.files {
			if err := f.reopen(); err != nil {
				failed(err)
			}
		}
	})
}

// logFile is a file that is appended to, and may be renamed in the meantime.
type logFile struct {
	name string
	mu   sync.Mutex
	f    *os.File
}

func openLogFile(name string) (*logFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	return &logFile{name: name, f: f}, nil
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Write(p)
}

// reopen opens the file that now has the name. If that fails, the old file remains in use.
func (l *logFile) reopen() error {
	next, err := openLogFile(l.name)
	if err != nil {
		return cli.OutputError(l.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f.Close()
	l.f = next.f
	return nil
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f.Close()
}

// openLogs opens the files named by --access-log and --missing.
func (r *serveRun) openLogs() (*serveLogs, error) {
	l := &serveLogs{}
	if r.accessLog != "" {
		w := r.stdout
		if r.accessLog != "-" {
			f, err := openLogFile(r.accessLog)
			if err != nil {
				return nil, cli.OutputError(r.accessLog, err)
			}
			l.files = append(l.files, f)
			w = f
		}
		r.cfg.Access = (&accessLog{name: r.accessLog, w: w, failed: r.failedLog}).add
	}
	if r.missing != "" {
		f, err := r.openMissing()
		if err != nil {
			l.close()
			return nil, err
		}
		l.files = append(l.files, f)
	}
	return l, nil
}

// openMissing opens a list of missing modules in order to continue it.
func (r *serveRun) openMissing() (*logFile, error) {
	old, err := os.ReadFile(r.missing)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.FileError(r.missing, err)
	}
	f, err := openLogFile(r.missing)
	if err != nil {
		return nil, cli.OutputError(r.missing, err)
	}
	if len(old) > 0 && old[len(old)-1] != '\n' { // its writer was killed
		if _, err := f.Write([]byte("\n")); err != nil {
			f.close()
			return nil, cli.OutputError(r.missing, err)
		}
	}
	list, err := symserver.NewMissingList(bytes.NewReader(old), f, maxMissing)
	if err != nil {
		f.close()
		return nil, cli.FileError(r.missing, err)
	}
	r.cfg.Missing = func(name, id string) {
		if err := list.Add(name, id); err != nil {
			r.failedLog(cli.OutputError(r.missing, err))
		}
	}
	return f, nil
}

// failedLog reports that a log cannot be written. The server continues to run.
func (r *serveRun) failedLog(err error) { r.log(err.Error()) }

// tokenFile is the file of --token-file.
type tokenFile struct{ r *serveRun }

func (f tokenFile) close() {}

// reopen reads the tokens again. If that fails, the server continues with the old tokens.
func (f tokenFile) reopen() error {
	tokens, err := f.r.readTokens()
	if err == nil {
		f.r.server.SetTokens(tokens)
	}
	return err
}

func (r *serveRun) readTokens() (*symserver.Tokens, error) {
	f, err := os.Open(r.tokens)
	if err != nil {
		return nil, cli.FileError(r.tokens, err)
	}
	defer f.Close()
	tokens, err := symserver.ReadTokens(f)
	if err != nil {
		return nil, cli.FileError(r.tokens, err)
	}
	return tokens, nil
}

// accessLog writes a line of JSON for each request.
type accessLog struct {
	name   string
	failed func(err error)
	mu     sync.Mutex
	w      io.Writer
}

func (l *accessLog) add(a *symserver.Access) {
	a.Agent, a.Range, a.Method = text.Printable(a.Agent), text.Printable(a.Range), text.Printable(a.Method)
	line, err := json.Marshal(a)
	if err == nil {
		l.mu.Lock()
		_, err = l.w.Write(append(text.EscapeJSON(line), '\n'))
		l.mu.Unlock()
	}
	if err != nil {
		l.failed(cli.OutputError(l.name, err))
	}
}

// lately holds the lines logged within the last minute: a client that repeats requests must not
// fill a disk with messages.
type lately struct {
	mu    sync.Mutex
	lines map[string]time.Time
}

const (
	logAgain  = time.Minute
	maxLately = 1000
)

// repeats reports whether a line was logged lately, and records it.
func (l *lately) repeats(line string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.lines[line]; ok && now.Sub(at) < logAgain {
		return true
	}
	if l.lines == nil || len(l.lines) >= maxLately {
		for old, at := range l.lines {
			if now.Sub(at) >= logAgain {
				delete(l.lines, old)
			}
		}
		if len(l.lines) >= maxLately {
			return true // too many to log all
		}
		if l.lines == nil {
			l.lines = map[string]time.Time{}
		}
	}
	l.lines[strings.Clone(line)] = now
	return false
}
