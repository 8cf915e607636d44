package symserver

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/symtool/symtool/resolve/store"
)

// Limits on the fields of a form other than its file.
const (
	maxFields = 64
	maxField  = 64 << 10 // bytes
)

// receiveForm takes a form: sym-upload-v1, with a symbol file in the field symbol_file, or Tecken's
// upload, with a zip.
func (s *Server) receiveForm(w *recorder, r *http.Request, in *incoming) error {
	r.Body = io.NopCloser(in)
	parts, err := r.MultipartReader()
	if err != nil {
		return refusef(http.StatusUnsupportedMediaType, "want multipart/form-data with a symbol file in the field symbol_file, or a zip")
	}
	fields := map[string]string{}
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			return refusef(http.StatusBadRequest, "no file in the form: want the field symbol_file, or a zip")
		}
		if err != nil {
			return err
		}
		switch {
		case part.FormName() == "symbol_file":
			return s.receiveSymbolFile(w, part, fields)
		case strings.EqualFold(filepath.Ext(part.FileName()), ".zip"):
			return s.receiveZip(w, part)
		case part.FileName() != "":
			return refusef(http.StatusBadRequest, "the field %q has a file: want symbol_file, or a zip", clip(part.FormName()))
		}
		if err := addField(fields, part); err != nil {
			return err
		}
	}
}

// addField reads a field that is not a file.
func addField(fields map[string]string, part *multipart.Part) error {
	if len(fields) == maxFields {
		return refusef(http.StatusBadRequest, "over %d fields in the form", maxFields)
	}
	value, err := io.ReadAll(io.LimitReader(part, maxField+1))
	if err != nil {
		return err
	}
	if len(value) > maxField {
		return refusef(http.StatusBadRequest, "the field %q has over %d bytes", clip(part.FormName()), maxField)
	}
	fields[part.FormName()] = string(value)
	return nil
}

// receiveSymbolFile takes the file of sym-upload-v1. Its MODULE must have the name and id of the fields before it;
// Breakpad's client sends all fields before the file.
func (s *Server) receiveSymbolFile(w *recorder, in io.Reader, fields map[string]string) error {
	var at *store.Place
	if name, id := fields["debug_file"], fields["debug_identifier"]; name != "" && id != "" {
		p, err := store.NewPlace(name, strings.ReplaceAll(id, "-", ""))
		if err != nil {
			return fmt.Errorf("debug_file and debug_identifier: %w", err)
		}
		at = &p
	}
	a, err := s.add(in, at)
	if err != nil {
		return err
	}
	if a.Outcome == store.Added {
		s.fail(w, http.StatusOK, "added "+filepath.ToSlash(a.Path)) // Breakpad's client takes only 200 for a success
		return nil
	}
	return s.answerAdded(w, a)
}

// zipAnswer is what Tecken answers to an upload (its documentation, "Upload").
type zipAnswer struct {
	Upload zipUpload `json:"upload"`
}

type zipUpload struct {
	Size      int64    `json:"size"` // of the zip, in bytes
	Filename  string   `json:"filename"`
	User      string   `json:"user"` // the token's name
	Created   string   `json:"created_at"`
	Completed string   `json:"completed_at"`
	Added     []string `json:"added_keys"`
	Skipped   []string `json:"skipped_keys"` // stored before, with the same contents
	Ignored   []string `json:"ignored_keys"` // not symbol files
}

// receiveZip takes a zip of symbol files, which is kept in a temporary file meanwhile. The first file that cannot be
// added ends the upload; the files before it stay.
func (s *Server) receiveZip(w *recorder, part *multipart.Part) error {
	began := time.Now()
	sp, err := newSpool(part)
	if err != nil {
		return err
	}
	defer sp.Close()
	z, err := zip.NewReader(sp, sp.size)
	if err != nil {
		return refusef(http.StatusBadRequest, "the zip cannot be read: %v", err)
	}
	up := zipUpload{Size: sp.size, Filename: filepath.Base(part.FileName()), User: w.token.name, Created: stamp(began), Added: []string{}, Skipped: []string{}, Ignored: []string{}}
	if wait := s.tooMany(w.token, len(z.File)); wait > 0 {
		s.refuseRate(w, target{kind: form}, wait)
		return nil
	}
	for _, f := range z.File {
		if err := s.receiveMember(&up, f); err != nil {
			return fmt.Errorf("%s: %w", clip(f.Name), err)
		}
	}
	up.Completed = stamp(time.Now())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	text, err := json.Marshal(zipAnswer{up})
	if err == nil {
		_, _ = w.Write(append(text, '\n'))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// receiveMember adds a file of a zip.
func (s *Server) receiveMember(up *zipUpload, f *zip.File) error {
	if f.FileInfo().IsDir() {
		return nil
	}
	name := strings.ToLower(f.Name)
	if !strings.Contains(name, symbolExt) && !strings.Contains(name, variablesExt) {
		up.Ignored = append(up.Ignored, f.Name)
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	a, err := s.add(in, nil)
	switch {
	case errors.Is(err, store.ErrTooLong):
		return refusef(http.StatusRequestEntityTooLarge, "%s", s.uploadLimit())
	case err != nil:
		return err
	case a.Outcome == store.Differs:
		return refusef(http.StatusConflict, "%s exists with other contents, and is kept", filepath.ToSlash(a.Path))
	case a.Outcome == store.Same:
		up.Skipped = append(up.Skipped, f.Name)
	default:
		up.Added = append(up.Added, f.Name)
	}
	return nil
}
