package symserver

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/resolve/store"
)

// elfPaths returns where an ELF file may be.
func elfPaths(contents store.Contents, id string) (paths []string) {
	for _, layout := range []string{"build-id", "debuginfod", "unified"} {
		p, err := store.PathIn(layout, &store.File{Contents: contents, BuildID: id})
		if err == nil {
			paths = append(paths, p)
		}
	}
	return paths
}

// findELF opens an executable or a debug file; nil if there is none.
func (s *Server) findELF(k kind, id string) (*file, error) {
	contents := store.DebugInfo
	if k == executable {
		contents = store.Executable
	}
	f, err := s.first(false, slices.Values(elfPaths(contents, id)))
	if f != nil || k == executable {
		return f, err
	}
	// An executable that was not stripped is its own debug file.
	whole, wholeErr := s.first(false, slices.Values(elfPaths(store.Executable, id)))
	if whole == nil {
		if err == nil {
			err = wholeErr
		}
		return nil, err
	}
	e, elfErr := whole.elf()
	if elfErr == nil && e.Object().HasDWARF() {
		return whole, nil
	}
	whole.Close()
	return nil, err
}

// elf reads the headers of an ELF file.
func (f *file) elf() (*elfobj.File, error) {
	return elfobj.NewFile(f.File, f.size, f.path, object.DefaultLimits())
}

// serveBuildID serves the paths of debuginfod.
func (s *Server) serveBuildID(w *recorder, r *http.Request, to target) {
	if to.kind == section {
		s.serveSection(w, r, to)
		return
	}
	var f *file
	var err error
	if to.kind == source {
		f, err = s.first(false, slices.Values([]string{filepath.Join("buildid", to.id, "source", filepath.FromSlash(to.name))}))
	} else {
		f, err = s.findELF(to.kind, to.id)
	}
	if f == nil {
		s.missingELF(w, to, err)
		return
	}
	defer f.Close()
	s.debuginfodHeader(w, f, f.size)
	s.serveFile(w, r, f, "application/octet-stream", "")
}

// debuginfodHeader sets the fields of debuginfod(8).
func (s *Server) debuginfodHeader(w *recorder, f *file, size int64) {
	w.Header().Set("X-DEBUGINFOD-SIZE", itoa64(size))
	w.Header().Set("X-DEBUGINFOD-FILE", headerText(filepath.ToSlash(f.path)))
}

// headerText returns a path in the form for a header: escaped as in URLs if it has characters other
// than printable ASCII.
func headerText(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r > '~' }) {
		return path
	}
	return (&url.URL{Path: path}).EscapedPath()
}

// missingELF answers that the file does not exist, or cannot be read.
func (s *Server) missingELF(w *recorder, to target, err error) {
	if err != nil {
		s.fail(w, http.StatusInternalServerError, "the file exists, but cannot be read")
		return
	}
	s.notef("no %s of build-id %s", to.kind, to.id)
	s.notFound(w, "no "+to.kind.String()+" of this build-id")
}

// serveSection answers with the bytes of a section of the debug file or, if it has none, of the
// executable.
func (s *Server) serveSection(w *recorder, r *http.Request, to target) {
	var failure error
	for _, k := range []kind{debuginfo, executable} {
		f, err := s.findELF(k, to.id)
		if err != nil {
			failure = err
		}
		if f == nil {
			continue
		}
		defer f.Close()
		e, err := f.elf()
		if err != nil {
			s.warnf("%s/%s: %v", f.root.dir, f.path, err)
			failure = err
			continue
		}
		for _, sec := range e.Sections {
			if sec.Name != to.name || !sec.HasData() || sec.Offset > uint64(f.size) || sec.FileSize > uint64(f.size)-sec.Offset {
				continue
			}
			etag := f.etag(hexOf(uint64(sec.Index)))
			if preconditionFailed(w, r, f, etag) {
				return
			}
			s.debuginfodHeader(w, f, int64(sec.FileSize))
			f.describe(w, "application/octet-stream", etag)
			http.ServeContent(w, withRanges(decided(r), int64(sec.FileSize), false), "", f.info.ModTime(), io.NewSectionReader(f.File, int64(sec.Offset), int64(sec.FileSize)))
			return
		}
	}
	s.missingELF(w, to, failure)
}
