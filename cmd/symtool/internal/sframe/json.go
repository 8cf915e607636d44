package sframe

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/version"
	"github.com/symtool/symtool/sframe"
)

// sframeHead is the start of the document of sframe --format json. It is followed either by the
// section, as written by sframe.Section.WriteJSON, or by lookups (a list, see WriteJSONAt),
// check, and compare_cfi, as written by symsframe.Comparison.WriteJSON. docs/json.md documents
// the fields.
type sframeHead struct {
	Schema    int    `json:"schema"` // 1
	Generator string `json:"generator"`
	Status    int    `json:"status"`
	File      string `json:"file"`
	Error     string `json:"error,omitempty"`
}

type sframeCheck struct {
	Profile  string          `json:"profile"`
	Findings []sframeFinding `json:"findings"`
}

type sframeFinding struct {
	Offset   string `json:"offset"` // hexadecimal, in the section
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	Message  string `json:"message"`
	Ref      string `json:"ref"`
}

// writeJSON writes the document in pieces, as a section can be large.
func (s *sframer) writeJSON(w io.Writer, failure error) error {
	head := sframeHead{Schema: 1, Generator: version.Generator, Status: s.status, File: s.file}
	if failure != nil {
		head.Error = failure.Error()
	}
	text, err := cli.EncodeJSON(head)
	if err != nil {
		return err
	}
	_, err = w.Write(bytes.TrimSuffix(text, []byte("\n}\n")))
	switch {
	case failure != nil:
	case s.wholeSection():
		err = errors.Join(err, s.member(w, "section"), s.section.WriteJSON(w))
	default:
		err = errors.Join(err, s.writeLookups(w), s.writeCheck(w), s.writeComparison(w))
	}
	_, endErr := io.WriteString(w, "\n}\n")
	return errors.Join(err, endErr)
}

// member begins a member of the document.
func (s *sframer) member(w io.Writer, name string) error {
	_, err := io.WriteString(w, ",\n  \""+name+"\": ")
	return err
}

func (s *sframer) writeLookups(w io.Writer) error {
	if len(s.pcs) == 0 {
		return nil
	}
	err := s.member(w, "lookups")
	separator := "[\n"
	for _, pc := range s.pcs {
		_, sepErr := io.WriteString(w, separator)
		err = errors.Join(err, sepErr, s.section.WriteJSONAt(w, pc))
		separator = ",\n"
	}
	_, endErr := io.WriteString(w, "]")
	return errors.Join(err, endErr)
}

func (s *sframer) writeCheck(w io.Writer) error {
	if s.profile == nil {
		return nil
	}
	doc := sframeCheck{Profile: s.profile.String(), Findings: []sframeFinding{}}
	for _, f := range s.findings {
		doc.Findings = append(doc.Findings, newSFrameFinding(f))
	}
	text, err := cli.EncodeJSON(doc)
	if err != nil {
		return err
	}
	return errors.Join(s.member(w, "check"), indented(w, text))
}

func (s *sframer) writeComparison(w io.Writer) error {
	if s.comparison == nil {
		return nil
	}
	var b bytes.Buffer
	err := s.comparison.WriteJSON(&b)
	return errors.Join(err, s.member(w, "compare_cfi"), indented(w, b.Bytes()))
}

// indented writes a document as a member of another.
func indented(w io.Writer, text []byte) error {
	_, err := w.Write(bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\n"), []byte("\n  "))))
	return err
}

func newSFrameFinding(f sframe.Finding) sframeFinding {
	return sframeFinding{"0x" + strconv.FormatUint(f.Offset, 16), f.Severity.String(), f.Rule, f.Msg, f.Ref}
}
