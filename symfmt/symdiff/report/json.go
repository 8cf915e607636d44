package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symdiff"
)

// documentVersion is the version of the JSON document. Fields may be added; none
// is renamed or changes its unit.
const documentVersion = 1

// The JSON document; golden/symfmt/symdiff/schema.json describes it. Short fields come
// first and the list of changes last, so that a reader can stop before it.
type (
	jsonHead struct {
		File    string `json:"file"`
		OS      string `json:"os,omitempty"`
		CPU     string `json:"cpu,omitempty"`
		DebugID string `json:"debug_id,omitempty"`
		Module  string `json:"module,omitempty"`
	}
	jsonSide struct {
		jsonHead
		Bytes       int64          `json:"bytes"`
		Compression string         `json:"compression,omitempty"`
		Records     map[string]int `json:"records"`
		Problems    []string       `json:"problems"`
		Unlisted    int            `json:"unlisted_problems"`
		Coverage    jsonCoverage   `json:"coverage"`
	}
	jsonCoverage struct {
		Functions int    `json:"functions"`
		Named     int    `json:"named"`
		Entries   int    `json:"cfi_entries"`
		Bytes     uint64 `json:"code_bytes"`
		CFI       uint64 `json:"cfi_bytes"`
		Lines     uint64 `json:"line_bytes"`
		AllCFI    uint64 `json:"all_cfi_bytes"`
		Variables int    `json:"functions_with_variables,omitempty"`
	}
	jsonCount struct {
		Kind        string         `json:"kind"`
		Before      int            `json:"before"`
		After       int            `json:"after"`
		Same        int            `json:"same"`
		Regressions int            `json:"regressions"`
		By          map[string]int `json:"by"`
	}
	jsonField struct {
		Name       string `json:"name"`
		Before     string `json:"before,omitempty"`
		After      string `json:"after,omitempty"`
		Regression bool   `json:"regression"`
	}
	jsonPath struct {
		Before string `json:"before"`
		After  string `json:"after"`
		Files  int    `json:"files"`
	}
	jsonChange struct {
		Kind       string        `json:"kind"`
		What       []string      `json:"what"`
		Regression bool          `json:"regression"`
		MatchedBy  string        `json:"matched_by,omitempty"`
		Before     *jsonSubject  `json:"before,omitempty"`
		After      *jsonSubject  `json:"after,omitempty"`
		Part       *jsonSubject  `json:"part,omitempty"`
		Sections   []jsonSection `json:"sections,omitempty"`
	}
	jsonSubject struct {
		Name string `json:"name"`
		RVA  string `json:"rva"`
		Size uint64 `json:"size"`
		Line uint32 `json:"line,omitempty"`
		At   string `json:"source,omitempty"`
	}
	jsonSection struct {
		Name string   `json:"name"`
		Rows []string `json:"rows"`
		Cut  int      `json:"cut"`
	}
	jsonTotals struct {
		Modules     int            `json:"modules"`
		Regressions int            `json:"regressions"`
		Status      map[Status]int `json:"status"`
	}
)

// jsonWriter writes one document as the results come in. Unprintable text is
// written with Go's escapes.
type jsonWriter struct {
	w      *bufio.Writer
	o      Options
	totals jsonTotals
	err    error
}

func newJSONWriter(w io.Writer, folders *Folders, o Options) Writer {
	e := &jsonWriter{w: bufio.NewWriter(w), o: o, totals: jsonTotals{Status: map[Status]int{}}}
	e.raw("{\n\"symtool\": ")
	e.value(struct {
		Schema  int    `json:"schema"`
		Version string `json:"version"`
	}{documentVersion, o.Version})
	e.raw(",\n\"only\": ")
	e.value(o.Compared.TopicNames())
	e.raw(",\n\"ignored\": ")
	e.value(o.Compared.Ignored())
	if folders != nil {
		e.raw(",\n\"folders\": ")
		e.value(struct {
			Before string `json:"before"`
			After  string `json:"after"`
		}{text.Printable(folders.Old), text.Printable(folders.New)})
	}
	e.raw(",\n\"modules\": [")
	return e
}

func (e *jsonWriter) Add(m *Module) error {
	if e.totals.Modules > 0 {
		e.raw(",")
	}
	e.totals.Modules++
	e.totals.Status[m.Status()]++
	e.raw("\n{\"status\": ")
	e.value(m.Status())
	e.field("module", text.Printable(m.name()))
	if m.Failed != "" {
		e.field("error", text.Printable(m.Failed))
	}
	if r := m.Result; r != nil {
		e.result(r)
	} else {
		if m.Old != nil {
			e.field("before", headJSON(m.Old))
		}
		if m.New != nil {
			e.field("after", headJSON(m.New))
		}
	}
	e.raw("}")
	if m.Status() == StatusRemoved {
		e.totals.Regressions++
	}
	return e.err
}

func (e *jsonWriter) End() error {
	e.raw("\n],\n\"total\": ")
	e.value(e.totals)
	e.raw("\n}\n")
	if e.err == nil {
		e.err = e.w.Flush()
	}
	return e.err
}

// result writes the fields of a comparison.
func (e *jsonWriter) result(r *symdiff.Result) {
	e.totals.Regressions += r.Regressions()
	e.field("before", sideJSON(r.Old, r.Before))
	e.field("after", sideJSON(r.New, r.After))
	e.field("regressions", r.Regressions())
	e.field("reasons", printables(reasons(r)))
	counts := []jsonCount{}
	for _, k := range r.Options.Kinds() {
		n := r.Counts[k]
		by := map[string]int{}
		for what, n := range n.By {
			by[what.String()] = n
		}
		counts = append(counts, jsonCount{k.String(), n.Before, n.After, n.Same, n.Regressions, by})
	}
	e.field("counts", counts)
	fields := []jsonField{}
	for _, f := range r.Module {
		fields = append(fields, jsonField{text.Printable(f.Name), text.Printable(f.Old), text.Printable(f.New), f.Regression})
	}
	e.field("fields", fields)
	paths := []jsonPath{}
	for _, p := range r.Paths {
		paths = append(paths, jsonPath{text.Printable(p.Old), text.Printable(p.New), p.Files})
	}
	e.field("paths", paths)
	e.changes(r)
}

func (e *jsonWriter) changes(r *symdiff.Result) {
	e.raw(",\n\"changes\": [")
	d := r.Details()
	for i := 0; i < len(r.Changes) && e.err == nil; i++ {
		if i > 0 {
			e.raw(",")
		}
		e.raw("\n")
		x, err := e.change(r.Changes[i], d)
		if err != nil {
			e.err = err
			return
		}
		e.value(x)
	}
	e.raw("]")
}

func (e *jsonWriter) change(c symdiff.Change, d *symdiff.Detailer) (*jsonChange, error) {
	read := d.Names
	if e.o.Detail {
		read = d.Detail
	}
	detail, err := read(c)
	if err != nil {
		return nil, err
	}
	x := &jsonChange{
		Kind: c.Kind.String(), What: c.What.Names(), Regression: c.What.Regression(), MatchedBy: c.By.String(),
		Before: subjectJSON(detail.Old), After: subjectJSON(detail.New), Part: subjectJSON(detail.Part),
	}
	for _, s := range detail.Sections {
		section := jsonSection{Name: s.Name, Rows: []string{}, Cut: s.Cut}
		for _, op := range s.Ops {
			section.Rows = append(section.Rows, string(op.Sign)+text.Printable(op.Text))
		}
		x.Sections = append(x.Sections, section)
	}
	return x, nil
}

func subjectJSON(s *symdiff.Subject) *jsonSubject {
	if s == nil {
		return nil
	}
	return &jsonSubject{Name: text.Printable(s.Name), RVA: hex(uint64(s.RVA)), Size: s.Size, Line: s.Line, At: text.Printable(s.At)}
}

func headJSON(h *Head) jsonHead {
	return jsonHead{File: text.Printable(h.File), OS: text.Printable(h.OS), CPU: text.Printable(h.CPU), DebugID: text.Printable(h.ID), Module: text.Printable(h.Name)}
}

func sideJSON(o *symdiff.Outline, c symdiff.Coverage) jsonSide {
	s := jsonSide{
		jsonHead: headJSON(headOf(o)), Bytes: o.Source.Bytes(), Compression: o.Source.Compression,
		Records: map[string]int{}, Problems: []string{}, Unlisted: o.Dropped,
		Coverage: jsonCoverage{len(o.Funcs), c.Named, c.Entries, c.Bytes, c.CFI, c.Lines, c.AllCFI, c.Variables},
	}
	for k, n := range o.Records {
		if n > 0 {
			s.Records[symfmt.Kind(k).String()] = n
		}
	}
	for _, p := range o.Problems {
		s.Problems = append(s.Problems, text.Printable(p.String()))
	}
	return s
}

func printables(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = text.Printable(s)
	}
	return out
}

func (e *jsonWriter) raw(s string) { e.w.WriteString(s) }

// field writes a field other than the first.
func (e *jsonWriter) field(name string, v any) {
	e.raw(",\n\"" + name + "\": ")
	e.value(v)
}

func (e *jsonWriter) value(v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); e.err == nil {
		e.err = err
	}
	_, err := e.w.Write(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	if e.err == nil {
		e.err = err
	}
}
