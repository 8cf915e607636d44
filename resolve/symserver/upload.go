package symserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/symtool/symtool/resolve/store"
)

// The defaults of Config for uploads.
const (
	DefaultMaxUpload  = 4 << 30
	DefaultUploadRate = 1200
)

// refusal is an answer to an upload that is not accepted.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string { return e.text }

func refusef(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// errBroken means that an upload ended early.
var errBroken = errors.New("the upload is incomplete")

// foreign refuses requests that a page of another origin makes a browser send, with the password that the browser
// has for this server.
var foreign = http.NewCrossOriginProtection()

// uploadWait is how long an upload waits for others to end.
const uploadWait = 10 * time.Second

// uploadsAt returns the number of uploads that are received at once: each costs a processor, and a temporary file.
func uploadsAt(processors int) int { return 4 * processors }

// receive takes an upload of files, one for each slot of the token's rate.
func (s *Server) receive(w *recorder, r *http.Request, to target) {
	if err := foreign.Check(r); err != nil {
		s.failFor(to)(w, http.StatusForbidden, "uploads from pages of other origins are refused")
		return
	}
	if wait := s.tooMany(w.token, 1); wait > 0 {
		s.refuseRate(w, to, wait)
		return
	}
	if r.ContentLength > s.cfg.MaxUpload { // before a client that asks first sends it
		s.failFor(to)(w, http.StatusRequestEntityTooLarge, s.uploadLimit())
		return
	}
	waiting, cancel := context.WithTimeout(r.Context(), uploadWait)
	defer cancel()
	if !take(waiting, s.uploads) {
		w.Header().Set("Retry-After", "1")
		s.failFor(to)(w, http.StatusServiceUnavailable, "too many uploads at once")
		return
	}
	defer func() { <-s.uploads }()
	in := s.incomingOf(w, r)
	var err error
	switch to.kind {
	case form:
		err = s.receiveForm(w, r, in)
	case uploadAPI:
		err = s.receivePending(w, to, in)
	default:
		err = s.receiveFile(w, r, to, in)
	}
	if err != nil {
		s.refuse(w, r, to, in, err)
	}
}

// tooMany charges a token with n files. It returns how long the client has to wait if they are too many.
func (s *Server) tooMany(t *token, n int) time.Duration {
	if t == nil || t.rate == nil { // the key of an upload that was permitted
		return 0
	}
	now := time.Now()
	res := t.rate.ReserveN(now, n)
	wait := res.DelayFrom(now)
	if wait > 0 {
		res.CancelAt(now)
	}
	return wait
}

func (s *Server) refuseRate(w *recorder, to target, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	s.failFor(to)(w, http.StatusTooManyRequests, "please send at most "+itoa(s.cfg.UploadRate)+" files a minute")
}

func (s *Server) uploadLimit() string {
	return "please limit uploads to " + itoa64(s.cfg.MaxUpload) + " bytes, compressed or not"
}

// refuse answers an upload that failed.
func (s *Server) refuse(w *recorder, r *http.Request, to target, in *incoming, err error) {
	var tooLarge *http.MaxBytesError
	var refused *refusal
	var storage *storageError
	var write *store.WriteError
	fail := s.failFor(to)
	s.metrics.uploads[uploadRefused].Add(1)
	switch {
	case errors.As(in.err, &tooLarge) || errors.Is(err, store.ErrTooLong):
		fail(w, http.StatusRequestEntityTooLarge, s.uploadLimit())
	case in.err != nil && ended(r.Context()):
		panic(http.ErrAbortHandler)
	case in.err != nil:
		fail(w, http.StatusRequestTimeout, errBroken.Error())
	case errors.As(err, &storage) || errors.As(err, &write):
		s.warnf("upload: %v", err)
		status := http.StatusInternalServerError
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
			status = http.StatusInsufficientStorage
		}
		fail(w, status, "the file cannot be stored now")
	case errors.As(err, &refused):
		fail(w, refused.status, refused.text)
	default:
		fail(w, http.StatusBadRequest, err.Error())
	}
}

// receiveFile takes a file that is put at its place.
func (s *Server) receiveFile(w *recorder, r *http.Request, to target, in *incoming) error {
	if r.Header.Get("Content-Range") != "" { // RFC 9110, section 14.5
		return refusef(http.StatusBadRequest, "want the whole file, without Content-Range")
	}
	var a *store.Addition
	var err error
	if to.kind == program {
		a, err = s.addProgram(in, to.place)
	} else {
		a, err = s.add(in, &to.place)
	}
	if err != nil {
		return err
	}
	return s.answerAdded(w, a)
}

// answerAdded answers an upload that was taken.
func (s *Server) answerAdded(w *recorder, a *store.Addition) error {
	path := filepath.ToSlash(a.Path)
	switch a.Outcome {
	case store.Differs:
		return refusef(http.StatusConflict, "%s exists with other contents, and is kept", path)
	case store.Same:
		s.fail(w, http.StatusOK, "same "+path)
	default:
		s.fail(w, http.StatusCreated, "added "+path)
	}
	return nil
}

// add adds a symbol file, or a file of variables, to the store.
func (s *Server) add(in io.Reader, at *store.Place) (*store.Addition, error) {
	a, err := s.store.Add(in, store.AddOptions{Compression: s.cfg.Compression, At: at, MaxText: s.cfg.MaxUpload})
	return s.added(a, err)
}

// addProgram adds a Windows program or a PDB to the store.
func (s *Server) addProgram(in io.Reader, at store.Place) (*store.Addition, error) {
	if s.cfg.ProgramID == nil {
		return nil, refusef(http.StatusMethodNotAllowed, "programs and PDBs are not accepted here")
	}
	sp, err := newSpool(in)
	if err != nil {
		return nil, err
	}
	defer sp.Close()
	id, err := s.cfg.ProgramID(sp, sp.size, at.Name)
	if err == nil && !strings.EqualFold(id, at.ID) {
		err = fmt.Errorf("its id is %s, want %s", id, at.ID)
	}
	if err != nil {
		return nil, err
	}
	return s.added(s.store.AddProgram(sp.whole(), at.Name, id))
}

// added counts an addition.
func (s *Server) added(a *store.Addition, err error) (*store.Addition, error) {
	if err != nil {
		return nil, err
	}
	s.metrics.uploads[a.Outcome].Add(1)
	if a.Outcome != store.Differs {
		s.catalog.Changed()
		s.missed.Found(a.Place.Name, a.Place.ID)
	}
	return a, nil
}

// openStore opens the store that uploads are added to.
func (s *Server) openStore() (err error) {
	if s.cfg.Tokens == nil {
		if s.cfg.AcceptUploads || s.cfg.Private {
			return errors.New("no tokens")
		}
		return nil
	}
	s.SetTokens(s.cfg.Tokens)
	if !s.cfg.AcceptUploads {
		return nil
	}
	if len(s.cfg.Dirs) == 0 {
		return errors.New("no store for uploads")
	}
	s.store, err = store.Open(s.cfg.Dirs[0], store.Options{Temporary: s.cfg.Temporary})
	return err
}
