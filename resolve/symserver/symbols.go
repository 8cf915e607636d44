package symserver

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// kept is a form in which a text is stored.
type kept struct {
	ext      string
	encoding string // Content-Encoding; "" for plain text
}

// forms are the forms in which symbol files and files of variables are stored, the smallest first.
var forms = []kept{{".zst", "zstd"}, {".gz", "gzip"}, {"", ""}}

// formOf returns the form in which a file is stored.
func formOf(path string) kept {
	for _, k := range forms {
		if strings.HasSuffix(path, k.ext) {
			return k
		}
	}
	return kept{}
}

// places returns where a module's symbol files may be: ids are written in either case, and names
// on Windows differ in case from one dump to the next.
func places(p store.Place, windows bool) (all []store.Place) {
	for _, q := range []store.Place{p, {Name: strings.ToLower(p.Name), ID: p.ID, Stem: strings.ToLower(p.Stem)}} {
		if q.Name != p.Name && !windows {
			continue
		}
		for _, id := range []string{q.ID, strings.ToUpper(q.ID), strings.ToLower(q.ID)} {
			q.ID = id
			if !slices.Contains(all, q) {
				all = append(all, q)
			}
		}
	}
	return all
}

// findSymbols opens the symbol file of a module, or its file of variables; of several, the one whose
// form comes first in exts. It returns nil if there is none.
func (s *Server) findSymbols(p store.Place, text string, exts []string) (*file, error) {
	return s.first(true, func(yield func(string) bool) {
		for _, q := range places(p, p.Name != p.Stem) {
			for _, ext := range exts {
				if !yield(q.Path(text + ext)) {
					return
				}
			}
		}
	})
}

// serveProgram answers with a Windows program or a PDB, as Microsoft's symbol servers do.
func (s *Server) serveProgram(w *recorder, r *http.Request, to target) {
	f, err := s.first(true, func(yield func(string) bool) {
		for _, q := range places(to.place, true) {
			if !yield(q.Program()) {
				return
			}
		}
	})
	if f == nil && err != nil {
		s.fail(w, http.StatusInternalServerError, "the file exists, but cannot be read")
		return
	}
	if f != nil {
		defer f.Close()
	}
	if f == nil || !store.IsProgram(f) {
		s.notFound(w, "no program or PDB of this name and id")
		return
	}
	s.serveFile(w, r, f, "application/octet-stream", "")
}

// wanted returns the extensions of forms in the order in which a client should get
// them: first what it accepts as it is, last what must be decompressed for it.
func wanted(accept string) (exts []string) {
	var last []string
	for _, k := range forms {
		if k.encoding == "" || accepts(accept, k.encoding) {
			exts = append(exts, k.ext)
		} else {
			last = append(last, k.ext)
		}
	}
	return append(exts, last...)
}

// serveSymbols answers with a symbol file, or a file of variables.
func (s *Server) serveSymbols(w *recorder, r *http.Request, to target) {
	exts := []string{to.zip}
	accept := strings.Join(r.Header.Values("Accept-Encoding"), ",")
	if to.zip == "" {
		exts = wanted(accept)
		w.Header().Set("Vary", "Accept-Encoding")
	}
	f, err := s.findSymbols(to.place, to.text, exts)
	if f == nil {
		s.missing(w, to, err)
		return
	}
	defer f.Close()
	k := formOf(f.path)
	switch {
	case to.zip != "":
		s.serveFile(w, r, f, contentTypes[to.zip], "")
	case k.encoding != "" && accepts(accept, k.encoding):
		s.serveFile(w, r, f, textType, k.encoding)
	case k.encoding != "":
		s.unpack(w, r, f)
	case s.cfg.Gzip && f.size >= gzipFrom && accepts(accept, "gzip"):
		s.pack(w, r, f)
	default:
		s.serveFile(w, r, f, textType, "")
	}
}

const textType = "text/plain; charset=utf-8"

var contentTypes = map[string]string{".gz": "application/gzip", ".zst": "application/zstd"}

// missing answers that the file does not exist, or cannot be read. Few modules have variables: those
// without are not missing.
func (s *Server) missing(w *recorder, to target, err error) {
	if err != nil {
		s.fail(w, http.StatusInternalServerError, "the symbol file exists, but cannot be read")
		return
	}
	if s.otherForm(to) {
		s.notFound(w, "it is stored in another form: ask for "+to.text)
		return
	}
	if to.text == variablesExt {
		s.notFound(w, "no variables of this module")
		return
	}
	w.missing = true
	s.miss(to.place)
	s.notef("no symbols of %s/%s", to.place.Name, to.place.ID)
	s.notFound(w, "no symbols of this module")
}

// miss records that a module's symbols were requested but missing.
func (s *Server) miss(p store.Place) {
	s.cfg.Missing(p.Name, p.ID)
	s.missed.Add(p.Name, p.ID, time.Now())
}

// otherForm reports whether there is a symbol file of a module, but not with the requested
// extension.
func (s *Server) otherForm(to target) bool {
	if to.zip == "" { // any form would do
		return false
	}
	f, _ := s.findSymbols(to.place, to.text, wanted(""))
	if f == nil {
		return false
	}
	f.Close()
	return true
}

func (s *Server) notFound(w *recorder, text string) {
	w.fresh = unfound
	s.fail(w, http.StatusNotFound, text)
}

// etag returns the entity tag of a file in an encoding.
func (f *file) etag(encoding string) string {
	tag := `"` + hexOf(uint64(f.size)) + "-" + hexOf(uint64(f.time))
	if encoding != "" {
		tag += "-" + encoding
	}
	return tag + `"`
}

// describe sets the header fields of a file that was found.
func (f *file) describe(w *recorder, contentType, etag string) {
	w.fresh = lasting
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("ETag", etag)
	h.Set("Last-Modified", f.info.ModTime().UTC().Format(http.TimeFormat))
}

// serveFile answers with a file as it is. With an encoding, the file is the
// text in that encoding.
func (s *Server) serveFile(w *recorder, r *http.Request, f *file, contentType, encoding string) {
	etag := f.etag(encoding)
	if preconditionFailed(w, r, f, etag) {
		return
	}
	f.describe(w, contentType, etag)
	r = withRanges(decided(r), f.size, encoding != "")
	if encoding != "" {
		w.Header().Set("Content-Encoding", encoding)
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", itoa64(f.size)) // as ServeContent then leaves it out
		}
	}
	http.ServeContent(w, r, "", f.info.ModTime(), f.File)
}

// unpack answers with the text of a compressed file.
func (s *Server) unpack(w *recorder, r *http.Request, f *file) {
	etag := f.etag("identity")
	if preconditionFailed(w, r, f, etag) {
		return
	}
	f.describe(w, textType, etag)
	w.Header().Set("Accept-Ranges", "none")
	if notModified(w, r, f, etag) || w.headOnly() {
		return
	}
	text, compression, err := symfmt.Decompress(f)
	if err == nil && compression != formOf(f.path).encoding {
		err = errors.New("not compressed as its name implies")
	}
	if err == nil {
		err = w.copy(bin.LimitReader(text, symfmt.MaxText))
	}
	s.broken(w, r, f, err)
}

// broken ends an answer that cannot be completed: the client must not take what it has for the
// whole.
func (s *Server) broken(w *recorder, r *http.Request, f *file, err error) {
	if err == nil || errors.Is(err, errClient) {
		return
	}
	gone := ended(r.Context())
	if !gone {
		s.warnf("%s/%s: %v", f.root.dir, f.path, err)
	}
	if gone || w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	for _, name := range []string{"ETag", "Last-Modified", "Content-Encoding", "Accept-Ranges"} {
		w.Header().Del(name)
	}
	s.fail(w, http.StatusInternalServerError, "the symbol file is damaged")
}

// gzipFrom is the length in bytes from which text is worth compressing.
const gzipFrom = 1 << 10

var gzipWriters = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed)
	return z
}}

// pack answers with a plain file in gzip.
func (s *Server) pack(w *recorder, r *http.Request, f *file) {
	etag := "W/" + f.etag("packed") // weak: another version of the program compresses to other bytes
	if preconditionFailed(w, r, f, etag) {
		return
	}
	f.describe(w, textType, etag)
	w.Header().Set("Accept-Ranges", "none")
	w.Header().Set("Content-Encoding", "gzip")
	if notModified(w, r, f, etag) || w.headOnly() {
		return
	}
	z := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(z)
	z.Reset(w)
	_, err := io.Copy(z, f)
	if err == nil {
		err = z.Close()
	}
	s.broken(w, r, f, err)
}
