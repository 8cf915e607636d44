package report

import (
	"bytes"
	"encoding/json"
	"io"
)

// docFailure is the document of a dump that could not be read. Its empty threads make it a document
// for CompareDocuments.
type docFailure struct {
	Status  string         `json:"status"` // "ERROR"
	Symtool docFailureCase `json:"symtool"`
	Threads []DocThread    `json:"threads"` // none
}

type docFailureCase struct {
	Dump  string `json:"dump"`
	Error string `json:"error"`
}

// WriteFailure writes, on one line, a JSON object in place of the Document of a dump that could not
// be read.
func WriteFailure(w io.Writer, dump string, err error) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	doc := docFailure{Status: "ERROR", Symtool: docFailureCase{Dump: dump, Error: err.Error()}, Threads: []DocThread{}}
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err = w.Write(escapeControls(buf.Bytes()))
	return err
}
