package upload

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
)

// Resume is a list of the files that are done, from which a run that was killed can continue. It
// has a line for each file: uploaded or present, its target, and the SHA-256 of its text,
// separated by tabs. Lines are appended, each by one write, and are on the disk before the file
// counts as done. A line without a line feed does not count.
type Resume struct {
	mu   sync.Mutex
	f    *os.File
	done map[string][32]byte // by target
}

// longestLine is far longer than any address that a server accepts.
const longestLine = 1 << 20

// OpenResume opens a list, or creates one.
func OpenResume(path string) (*Resume, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	r := &Resume{f: f, done: map[string][32]byte{}}
	if err := r.read(); err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

func (r *Resume) read() error {
	st, err := r.f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	in := bufio.NewReaderSize(r.f, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err == io.EOF {
			if len(line) > 0 { // truncated: the next one must begin on a new line
				_, err := r.f.Write([]byte("\n"))
				return err
			}
			return nil
		}
		line = bytes.TrimLeft(line, "\x00") // what some file systems leave after a power failure
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = r.take(line)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > longestLine {
			return nil, fmt.Errorf("more than %d bytes: not a list of uploaded files", longestLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// take parses a line. A line that was truncated before another was appended is ignored: the
// SHA-256 comes last.
func (r *Resume) take(line []byte) error {
	words := strings.Split(strings.TrimSuffix(string(line), "\n"), "\t")
	if words[0] != Uploaded.String() && words[0] != Present.String() && !strings.HasPrefix(Uploaded.String(), words[0]) && !strings.HasPrefix(Present.String(), words[0]) {
		return errors.New("want uploaded or present, an address and a SHA-256, with tabs: not a list of uploaded files")
	}
	if len(words) != 3 || len(words[2]) != 64 {
		return nil
	}
	var sum [32]byte
	if _, err := hex.Decode(sum[:], []byte(words[2])); err == nil {
		r.done[words[1]] = sum
	}
	return nil
}

// has reports whether the text of a file is on the server. A nil list has nothing.
func (r *Resume) has(target string, f *file) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	sum, ok := r.done[target]
	return ok && sum == f.text
}

// add records that a file is done.
func (r *Resume) add(o Outcome, target string, f *file) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if sum, ok := r.done[target]; ok && sum == f.text {
		return nil
	}
	r.done[target] = f.text
	_, err := fmt.Fprintf(r.f, "%v\t%s\t%x\n", o, target, f.text)
	if err == nil {
		err = r.f.Sync()
	}
	if err != nil {
		return &ResumeError{err}
	}
	return nil
}

// ResumeError is a failure to write the list.
type ResumeError struct{ Err error }

func (e *ResumeError) Error() string { return e.Err.Error() }
func (e *ResumeError) Unwrap() error { return e.Err }

// Close closes the list. It does nothing if r is nil.
func (r *Resume) Close() error {
	if r == nil {
		return nil
	}
	return r.f.Close()
}
