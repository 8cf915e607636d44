package config

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/symtool/symtool/lint/filter"
)

// baselineVersion is the version of the baseline format.
const baselineVersion = 1

// WriteBaseline writes a baseline as JSON, one entry per line, sorted.
func WriteBaseline(w io.Writer, b *filter.Baseline) error {
	bw := bufio.NewWriter(w)
	fmt.Fprintf(bw, "{\"symtool_lint_baseline\": %d, \"entries\": [", baselineVersion)
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	separator := "\n"
	for _, e := range b.Sorted() {
		line.Reset()
		if err := enc.Encode(e); err != nil {
			return err
		}
		bw.WriteString(separator)
		bw.Write(bytes.TrimSuffix(line.Bytes(), []byte("\n")))
		separator = ",\n"
	}
	bw.WriteString("\n]}\n")
	return bw.Flush()
}

// maxBaseline is the maximum size of a baseline in bytes.
const maxBaseline = 256 << 20

// ReadBaseline reads a baseline; file is its name in messages. If the baseline is malformed, the
// error is an *Error.
func ReadBaseline(in io.Reader, file string) (*filter.Baseline, error) {
	var text struct {
		Version *int            `json:"symtool_lint_baseline"`
		Entries []*filter.Entry `json:"entries"`
	}
	limited := &io.LimitedReader{R: in, N: maxBaseline}
	dec := json.NewDecoder(limited)
	if err := dec.Decode(&text); err != nil {
		if limited.N == 0 {
			return nil, &Error{File: file, Msg: fmt.Sprintf("more than %d bytes: not a baseline", maxBaseline)}
		}
		var unread *fs.PathError
		if errors.As(err, &unread) {
			return nil, err
		}
		return nil, &Error{File: file, Msg: fmt.Sprintf("not a baseline: %v", err)}
	}
	if text.Version == nil {
		return nil, &Error{File: file, Msg: "not a baseline: symtool_lint_baseline is missing"}
	}
	if *text.Version != baselineVersion {
		return nil, &Error{File: file, Msg: fmt.Sprintf("baseline of version %d, want %d", *text.Version, baselineVersion)}
	}
	b := filter.NewBaseline(file)
	for i, e := range text.Entries {
		switch {
		case e == nil || e.File == "" || e.Rule == "" || e.Fingerprint == "" || e.Count < 1:
			return nil, &Error{File: file, Msg: fmt.Sprintf("entry %d: file, rule, fingerprint or count is missing", i+1)}
		case !b.Add(e):
			return nil, &Error{File: file, Msg: fmt.Sprintf("entry %d: has the same file, rule and fingerprint as an earlier one", i+1)}
		}
	}
	return b, nil
}
