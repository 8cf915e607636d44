package logs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
)

// Frame is a function at a code location.
type Frame struct {
	Function string
	File     string // "" if it is unknown
	Line     uint32 // 0 if it is unknown
	Offset   uint64 // distance from the start of the function to the place, if the function is not inlined
}

// jsonReports copies the crash reports in JSON at the start of a log, such as a .ips file from Apple's systems: a
// line about the report, then an object with its threads. It adds to each frame the members that Apple's programs
// add. It returns the rest of the log.
//
// https://developer.apple.com/documentation/xcode/interpreting-the-json-format-of-a-crash-report
func (f *Filter) jsonReports(in io.Reader, out *cli.Stdout) (io.Reader, error) {
	r := bufio.NewReaderSize(in, filterBuffer)
	for header := false; ; {
		held, whole, err := readObject(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return io.MultiReader(bytes.NewReader(held), r), nil // r returns the error again
		}
		report, isReport := f.jsonReport(held, whole)
		if isHeader := isReportHeader(held, whole); !isReport && !isHeader {
			f.BadReport = header
			return io.MultiReader(bytes.NewReader(held), r), nil
		}
		header = !isReport
		_, err = out.Write(report)
		if err == nil {
			err = out.Flush()
		}
		if err != nil {
			return nil, cli.OutputError(out.Name(), err)
		}
	}
}

// isReportHeader reports whether a JSON object is the header of a report, which says what kind of report follows.
func isReportHeader(object []byte, whole bool) bool {
	found := false
	return whole && eachMember(object, 0, func(key string, _ []byte, _ int) { found = found || key == "bug_type" }) == nil && found
}

// jsonReport returns a report with functions, files and lines added to the known frames. It reports false if the
// object is not a report.
func (f *Filter) jsonReport(object []byte, whole bool) (_ []byte, ok bool) {
	if !whole {
		return object, false
	}
	var r ipsReport
	if r.read(object) != nil || r.images == nil {
		return object, false
	}
	var out []byte
	done := 0
	for i := range r.frames {
		one := &r.frames[i]
		if answer := f.ipsFrame(&r, one); answer != nil {
			out = append(append(out, object[done:one.at]...), answer...)
			done = one.at + len(one.text)
		}
	}
	return append(out, object[done:]...), true
}

// ipsReport is the JSON object of a report.
type ipsReport struct {
	images []ipsImage
	frames []ipsFrame // of all stacks, by position
}

// ipsImage is a module of the process.
type ipsImage struct {
	UUID, Name, Path string
	Size             uint64 // of the code and read-only data; 0 if it is unknown
}

// ipsFrame is a frame of a stack in a report.
type ipsFrame struct {
	text   []byte // its JSON object
	at     int    // position in the report
	caller bool   // the address is a return address
}

func (r *ipsReport) read(object []byte) error {
	return eachMember(object, 0, func(key string, value []byte, at int) {
		switch key {
		case "usedImages":
			if json.Unmarshal(value, &r.images) != nil {
				r.images = nil
			}
		case "lastExceptionBacktrace": // return addresses
			r.stack(value, at, true)
		case "threads":
			_ = eachElement(value, at, func(thread []byte, at int) {
				_ = eachMember(thread, at, func(key string, value []byte, at int) {
					if key == "frames" {
						r.stack(value, at, false)
					}
				})
			})
		}
	})
}

// stack adds the frames of a stack.
func (r *ipsReport) stack(list []byte, at int, caller bool) {
	_ = eachElement(list, at, func(frame []byte, at int) {
		r.frames = append(r.frames, ipsFrame{frame, at, caller})
		caller = true
	})
}

// ipsFrame returns the objects that replace a frame: one for each inlined call, and one for the frame itself. It
// returns nil if nothing is known, or if the report already has a line for the frame.
func (f *Filter) ipsFrame(r *ipsReport, frame *ipsFrame) []byte {
	var at struct {
		ImageOffset *uint64
		ImageIndex  *int
		SourceLine  int
		Inline      bool
	}
	if json.Unmarshal(frame.text, &at) != nil || at.ImageOffset == nil || at.ImageIndex == nil || at.SourceLine > 0 || at.Inline ||
		*at.ImageIndex < 0 || *at.ImageIndex >= len(r.images) {
		return nil
	}
	image := &r.images[*at.ImageIndex]
	name := image.module()
	if name == "" || image.Size > 0 && *at.ImageOffset >= image.Size {
		return nil
	}
	p := Place{Name: name, Addr: *at.ImageOffset, Counts: FromStart, Caller: frame.caller, Sure: true}
	frames, found := f.Frames(&p)
	if !found {
		f.Miss(name)
		return nil
	}
	f.Replaced++
	var out []byte
	for _, inlined := range frames[:len(frames)-1] {
		out = appendObject(out, withSource([]member{{"symbol", inlined.Function}, {"inline", true},
			{"imageIndex", *at.ImageIndex}, {"imageOffset", *at.ImageOffset}}, &inlined))
		out = append(out, ',')
	}
	return appendObject(out, frame.with(&frames[len(frames)-1]))
}

// module returns the name of an image with its ID, or "" for memory that belongs to no file.
func (i *ipsImage) module() string {
	name := text.Base(i.Path)
	if name == "" {
		name = i.Name
	}
	id := strings.ToUpper(strings.ReplaceAll(i.UUID, "-", ""))
	if name == "" || len(id) != 32 || strings.Trim(id, "0") == "" {
		return ""
	}
	return name + "/" + id + "0"
}

// with returns the members of the frame, with the function, file and line of an answer added.
func (frame *ipsFrame) with(answer *Frame) (all []member) {
	_ = eachMember(frame.text, 0, func(key string, value []byte, _ int) {
		switch key {
		case "symbol", "symbolLocation", "sourceFile", "sourceLine":
		default:
			all = append(all, member{key, json.RawMessage(value)})
		}
	})
	all = append(all, member{"symbol", answer.Function}, member{"symbolLocation", answer.Offset})
	return withSource(all, answer)
}

// withSource adds the file and the line of an answer to all.
func withSource(all []member, answer *Frame) []member {
	if answer.File != "" && answer.Line > 0 {
		all = append(all, member{"sourceLine", answer.Line}, member{"sourceFile", answer.File})
	}
	return all
}
