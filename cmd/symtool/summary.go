package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/srcmap"
)

// summarySchema is the version of the summary. Fields may be added; a renamed field or another unit
// needs a new number.
const summarySchema = 1

// dumpSummary is the document that dump --format json prints. docs/json.md
// documents its fields.
type dumpSummary struct {
	Schema    int            `json:"schema"`
	Generator string         `json:"generator"`
	Status    int            `json:"status"`
	Files     []*fileSummary `json:"files"`
}

type fileSummary struct {
	File      string           `json:"file"`
	DebugFile string           `json:"debug_file,omitempty"`
	Output    string           `json:"output,omitempty"`
	Alias     string           `json:"alias,omitempty"`     // with --both-names: the same symbols under FILE's name
	Unchanged bool             `json:"unchanged,omitempty"` // with --restat: the output was left alone
	Status    int              `json:"status"`
	Error     string           `json:"error,omitempty"`
	Module    *moduleSummary   `json:"module,omitempty"`
	Stats     *dwarf2sym.Stats `json:"stats,omitempty"`
	CFICheck  *cfiCheck        `json:"cfi_check,omitempty"` // with --check-cfi
	Mapped    []mappedSummary  `json:"mapped,omitempty"`    // files whose digests are in names
	Notes     []string         `json:"notes,omitempty"`
	Looked    []string         `json:"looked,omitempty"` // for debug information, without success
	Problems  []problemSummary `json:"problems,omitempty"`

	lines   []string // Problems as text
	remarks []string // notes that --verbose shows
	tried   []string // as elfobj.FindDebug lists them
	others  []string // as dwarf2sym.Report.Others

	fileName    string // as in dwarf2sym.Report
	nameGuessed bool
}

// mappedSummary is a source file that was read for its digest.
type mappedSummary struct {
	Path   string `json:"path"` // as in the debug information
	Name   string `json:"name"` // of the FILE record
	File   string `json:"file"` // that was read
	SHA512 string `json:"sha512"`
}

func mappedSummaries(files []srcmap.File) (all []mappedSummary) {
	for _, f := range files {
		all = append(all, mappedSummary{f.Path, f.Name, f.File, f.SHA512})
	}
	return all
}

type moduleSummary struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

type problemSummary struct {
	File    string `json:"file,omitempty"`
	Section string `json:"section,omitempty"`
	Offset  string `json:"offset,omitempty"` // hexadecimal, in the section or the file
	Message string `json:"message"`
	Lost    string `json:"lost,omitempty"`
}

func newProblemSummary(p bin.Problem) problemSummary {
	s := problemSummary{Message: p.Err.Error(), Lost: p.Lost}
	var e *bin.Error
	if errors.As(p.Err, &e) {
		s.File, s.Section, s.Offset = e.File, e.Section, "0x"+strconv.FormatUint(e.Offset, 16)
		s.Message = (&bin.Error{Msg: e.Msg, Err: e.Err}).Error()
	}
	return s
}

// report prints what there is to say about one file.
func (d *dumper) report(r *dumpResult) {
	if d.json && d.toStdout() {
		return // standard error holds the document alone
	}
	if !d.quiet {
		d.reportProblems(r.lines)
		for _, note := range r.Notes {
			d.msgs.printf("symtool: %s", note)
		}
		if d.verbose {
			d.reportLooked(r)
			for _, remark := range r.remarks {
				d.msgs.printf("symtool: %s", remark)
			}
		}
	}
	if r.Error != "" {
		d.msgs.printf("symtool: %s", r.Error)
		if d.verbose && r.stack != nil {
			for line := range strings.Lines(string(r.stack)) {
				d.msgs.printf("%s", strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    "))
			}
		}
		return
	}
	if d.verbose && !d.json {
		d.reportWritten(r)
	}
}

func (d *dumper) reportProblems(lines []string) {
	out := problemLines{msgs: d.msgs, all: d.verbose, hint: verboseHint}
	for _, line := range lines {
		out.add(line)
	}
	out.end()
}

func (d *dumper) reportLooked(r *dumpResult) {
	for _, place := range r.Looked {
		d.msgs.printf("symtool: looked for debug information at %s", place)
	}
}

func (d *dumper) reportWritten(r *dumpResult) {
	if r.DebugFile != "" {
		d.msgs.printf("symtool: %s: debug information from %s", r.File, r.DebugFile)
	}
	for _, file := range r.others {
		d.msgs.printf("symtool: %s: debug information from %s", r.File, file)
	}
	d.msgs.printf("symtool: %s: %s", r.File, statsLine(r.Stats))
	switch {
	case r.Unchanged:
		d.msgs.printf("symtool: %s is unchanged", r.Output)
	case r.Output != "-":
		d.msgs.printf("symtool: wrote %s", r.Output)
	}
	if r.Alias != "" && !r.Unchanged {
		d.msgs.printf("symtool: wrote %s", r.Alias)
	}
}

// count formats a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// statsLine lists what was written, then what was lost.
func statsLine(s *dwarf2sym.Stats) string {
	line := strings.Join([]string{
		count(s.Funcs, "function"), count(s.Inlines, "inline"), count(s.Lines, "line"), count(s.Files, "file"),
		count(s.Publics, "public symbol"), count(s.CFIBlocks, "CFI block"), count(s.CFIRows, "CFI row"),
	}, ", ")
	for _, lost := range []struct {
		n    int
		what string
	}{
		{s.DeadFuncs, "dead function"},
		{s.CFIDead, "dead FDE"},
		{s.CFILostRules, "inexpressible CFI rule"},
		{s.CFILostRegs, "unnamed CFI register"},
	} {
		if lost.n > 0 {
			line += "; left out: " + count(lost.n, lost.what)
		}
	}
	return line
}

// printJSON prints the summary to the stream that the symbol file does not use.
func (d *dumper) printJSON(status int) error {
	doc := dumpSummary{Schema: summarySchema, Generator: generator, Status: status}
	for _, r := range d.results {
		r.Notes = append(r.Notes, r.remarks...)
		doc.Files = append(doc.Files, &r.fileSummary)
	}
	text, err := encodeJSON(doc)
	if err != nil {
		return err
	}
	if d.toStdout() {
		_, _ = d.msgs.Write(text)
		return nil
	}
	if err := writeText(d.stdout, string(text)); err != nil {
		return err
	}
	return nil
}

// encodeJSON is v as indented JSON, with everything that printable would
// change in \u form.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	err := printJSON(&b, v)
	return b.Bytes(), err
}

// printJSON writes the output of encodeJSON piece by piece: encoding/json holds a document twice
// before it writes any of it.
func printJSON(w io.Writer, v any) error {
	e := &escapingWriter{w: w}
	err := json.MarshalWrite(e, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = e.Write([]byte("\n"))
	return err
}

// escapingWriter escapes what does not print in JSON, which is written to it in whole
// characters.
type escapingWriter struct {
	w   io.Writer
	buf []byte
}

// escapedPiece is how much is written at once, about.
const escapedPiece = 64 << 10

func (e *escapingWriter) Write(text []byte) (int, error) {
	for done := 0; done < len(text); {
		e.buf = e.buf[:0]
		for done < len(text) && len(e.buf) < escapedPiece {
			r, size := utf8.DecodeRune(text[done:])
			if r == '\n' || strconv.IsPrint(r) {
				e.buf = utf8.AppendRune(e.buf, r)
			} else {
				for _, unit := range utf16.AppendRune(nil, r) {
					e.buf = fmt.Appendf(e.buf, `\u%04x`, unit)
				}
			}
			done += size
		}
		if _, err := e.w.Write(e.buf); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

// sameContents compares two files.
func sameContents(a, b string) (bool, error) {
	fa, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer fa.Close()
	fb, err := os.Open(b)
	if err != nil {
		return false, err
	}
	defer fb.Close()
	return sameBytes(fa, fb)
}

func sameBytes(a, b io.Reader) (bool, error) {
	bufA, bufB := make([]byte, outputBuffer), make([]byte, outputBuffer)
	for {
		na, errA := io.ReadFull(a, bufA)
		nb, errB := io.ReadFull(b, bufB)
		if !bytes.Equal(bufA[:na], bufB[:nb]) {
			return false, nil
		}
		ended := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF)
		if ended && (errors.Is(errB, io.EOF) || errors.Is(errB, io.ErrUnexpectedEOF)) {
			return true, nil
		}
		if err := errors.Join(errA, errB); err != nil {
			return false, err
		}
	}
}
