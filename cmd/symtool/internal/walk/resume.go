package walk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
)

// checkResume checks --resume.
func (w *walkCall) checkResume() error {
	if w.resume && (!w.inPlace() || w.output == "-") {
		return errors.New("--resume is for --format jsonl with --output FILE")
	}
	return nil
}

// inPlace reports whether lines are written to the output as dumps are walked.
func (w *walkCall) inPlace() bool {
	return w.format == formatJSONLines && !w.comparing() && w.sum == nil
}

// createOutput opens the output, and keeps its first keep bytes.
func (w *walkCall) createOutput(keep int64) (cli.Output, error) {
	if w.inPlace() {
		return cli.CreateLines(w.output, keep, w.stdout)
	}
	if w.text.Color {
		return cli.CreateColored(w.output, w.stdout)
	}
	return cli.CreateOutput(w.output, w.stdout)
}

// doneLine is a line that an earlier call wrote, as far as this call needs it.
type doneLine struct {
	Status  string `json:"status"`
	Symtool *struct {
		Dump     string           `json:"dump"`
		Problems []jsontext.Value `json:"problems"`
		Verdict  *struct {
			Holds bool `json:"holds"`
		} `json:"verdict"`
	} `json:"symtool"`
}

// skipDone removes from w.files, with --resume, the dumps for which the output already has lines.
// It returns the size in bytes of the output's whole lines.
func (w *walkCall) skipDone() (keep int64, err error) {
	if !w.resume {
		return 0, nil
	}
	f, err := openJSON(w.output)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0, err
	}
	if keep, err = endOfLines(f, st.Size()); err != nil {
		return 0, err
	}
	done, err := w.readDone(io.NewSectionReader(f, 0, keep))
	if err != nil {
		return 0, err
	}
	w.skip(done)
	return keep, nil
}

// skip removes from w.files the dumps that are done. A dump that is named twice needs two lines.
func (w *walkCall) skip(done map[string]int) {
	var left []string
	for _, file := range w.files {
		if name := jsonText(file); done[name] > 0 {
			done[name]--
			w.resumed++
			continue
		}
		left = append(left, file)
	}
	w.files = left
	others := 0
	for _, n := range done {
		others += n
	}
	if others > 0 {
		w.msgs.Warnf("symtool: %s: %s of dumps that are not among DUMPs: kept", w.output, text.Count(others, "line"))
	}
}

// jsonText returns a name as it appears in JSON: each byte that is not UTF-8 becomes U+FFFD.
func jsonText(s string) string { return string([]rune(s)) }

// endOfLines returns the offset after the last newline of a file.
func endOfLines(f io.ReaderAt, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for end := size; end > 0; {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return end - n + int64(i) + 1, nil
		}
		end -= n
	}
	return 0, nil
}

// readDone counts the lines of each dump, and raises the status of the call as if the dumps were
// walked again.
func (w *walkCall) readDone(lines io.Reader) (map[string]int, error) {
	done := map[string]int{}
	values := jsontext.NewDecoder(bufio.NewReaderSize(lines, 256<<10), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	for n := 1; ; n++ {
		at := values.InputOffset()
		var line doneLine
		err := json.UnmarshalDecode(values, &line)
		if err == io.EOF {
			return done, nil
		}
		if err != nil || line.Symtool == nil || line.Symtool.Dump == "" {
			return nil, &notLine{n, at, err}
		}
		done[line.Symtool.Dump]++
		w.noteDone(&line)
	}
}

// noteDone raises the status of the call according to a line of an earlier call.
func (w *walkCall) noteDone(line *doneLine) {
	if line.Status == "ERROR" || len(line.Symtool.Problems) > 0 {
		w.note(cli.StatusInput)
	}
	if v := line.Symtool.Verdict; w.verify != nil && v != nil && !v.Holds {
		w.note(cli.StatusFindings)
	}
}

// notLine is the error for a line of the output that walk did not write.
type notLine struct {
	line   int
	offset int64
	err    error // or nil
}

func (e *notLine) Error() string {
	s := fmt.Sprintf("line %d, offset %#x: not a line of walk --format jsonl: remove the file, or --resume", e.line, e.offset)
	if e.err != nil {
		s += ": " + e.err.Error()
	}
	return s
}

func (e *notLine) Unwrap() error { return e.err }
