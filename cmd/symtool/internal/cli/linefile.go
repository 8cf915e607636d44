package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

// lineBuffer is the size in bytes of a LineFile's writes: at most this much is lost if the program
// is killed.
const lineBuffer = 32 << 10

// LineFile is a file of lines that is written in place. If writing ends early, the file has the
// lines written so far, each of them whole.
type LineFile struct {
	*bufio.Writer
	file *wholeLines // nil after Commit or Abort
	name string
}

// wholeLines is a file that knows where its last whole line ends.
type wholeLines struct {
	f          *os.File
	size, ends int64
}

func (w *wholeLines) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
		w.ends = w.size + int64(i) + 1
	}
	w.size += int64(n)
	return n, err
}

// CreateLines opens path for writing lines after its first keep bytes; it truncates the rest.
// Standard output, devices and named pipes are treated as by CreateOutput.
func CreateLines(path string, keep int64, standard io.Writer) (Output, error) {
	if path == "-" || path == "/dev/stdout" {
		return CreateOutput(path, standard)
	}
	target, special, err := outputTarget(path)
	if err != nil {
		return nil, err
	}
	if special {
		return CreateOutput(path, standard)
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err = f.Truncate(keep); err == nil {
		_, err = f.Seek(keep, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	lines := &wholeLines{f, keep, keep}
	return &LineFile{bufio.NewWriterSize(lines, lineBuffer), lines, path}, nil
}

// Name implements Output.
func (l *LineFile) Name() string { return l.name }

// Abort implements Output. Whole lines stay in the file.
func (l *LineFile) Abort() {
	if l.file == nil {
		return
	}
	_ = l.Flush() // as much as can be written
	_ = l.file.f.Truncate(l.file.ends)
	l.file.f.Close()
	l.file = nil
}

// Commit implements Output.
func (l *LineFile) Commit() error {
	if err := l.Flush(); err != nil {
		l.Abort()
		return err
	}
	err := l.file.f.Close()
	l.file = nil
	return err
}
