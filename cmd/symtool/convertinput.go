package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dumpfile"
)

// input is a file to convert.
type input struct {
	name   string // as given
	path   string // "" if it can be read only once
	format *format

	stream *bufio.Reader // for input that can be read only once
	packed string        // compression, "" for none
	close  []io.Closer
}

// openInput detects the format of a file; from is the value of --from, or "".
func openInput(path, from string) (*input, error) {
	in := &input{name: path, path: path}
	err := in.open(path)
	if err == nil {
		err = in.detect(from)
	}
	if err != nil {
		in.Close()
		return nil, inputError(in.name, err)
	}
	return in, nil
}

func (in *input) Close() {
	for _, c := range in.close {
		c.Close()
	}
	in.close = nil
}

// open opens a file that is not regular, whose beginning must not be lost.
func (in *input) open(path string) error {
	if path == "-" {
		in.name, in.path, in.stream = standardInput, "", bufio.NewReader(os.Stdin)
		return nil
	}
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return errors.New("is a directory, want a file; --to-store takes folders")
	case st.Mode().IsRegular():
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	in.path, in.stream, in.close = "", bufio.NewReader(f), append(in.close, f)
	return nil
}

// detect finds the format: by --from, else by the contents, else by the name.
func (in *input) detect(from string) error {
	if from != "" {
		in.format = formatNamed(from)
		if in.path != "" && in.format.dump {
			return isOther(in)
		}
		if _, err := in.head(); err != nil {
			return err
		}
		return in.once()
	}
	if in.path != "" {
		if in.format = formatNamed(dumpfile.FormatOf(in.path)); in.format != nil {
			return nil
		}
	}
	head, err := in.head()
	if err != nil {
		return err
	}
	if in.format = formatOfContent(head); in.format == nil {
		in.format, _ = formatOfName(in.name)
	}
	if in.format == nil || !in.format.reads() {
		return fmt.Errorf("%w; --from names one", &unknownFormatError{formatNames((*format).reads)})
	}
	return in.once()
}

// unknownFormatError is the error for an input in no known format.
type unknownFormatError struct{ want []string }

func (e *unknownFormatError) Error() string {
	return "not in a format that convert reads and knows by content or name: want " + strings.Join(e.want, ", ")
}

// once refuses formats that need random access.
func (in *input) once() error {
	switch {
	case in.path == "" && !in.format.packed && !in.format.piped:
		return fmt.Errorf("%s is not read from front to back: want a regular file", in.format.title)
	case in.packed != "" && !in.format.packed && !in.format.piped:
		return fmt.Errorf("%s in %s: decompress it first", in.format.title, in.packed)
	}
	return isOther(in)
}

// head is the beginning of the contents, which may be compressed.
func (in *input) head() ([]byte, error) {
	if in.stream != nil {
		head, err := in.stream.Peek(headSize)
		if symfmt.IsCompressed(head) {
			// The stream goes on from here, decompressed.
			text, packed, err := symfmt.Decompress(in.stream)
			if err != nil {
				return nil, err
			}
			in.packed, in.stream = packed, bufio.NewReader(text)
			head, _ = in.stream.Peek(headSize)
			return head, nil
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return head, err
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, packed, err := symfmt.Decompress(f)
	if err != nil {
		return nil, err
	}
	in.packed = packed
	return headOf(text)
}

// reader reads the contents from the front, compressed or not.
func (in *input) reader() (io.Reader, error) {
	if in.stream != nil {
		return in.stream, nil
	}
	f, err := os.Open(in.path)
	if err == nil {
		in.close = append(in.close, f)
	}
	return f, err
}

// random returns the decompressed contents for random access. Compressed input, or input that can
// be read only once, is copied into a temporary file.
func (in *input) random() (io.ReaderAt, int64, error) {
	r, err := in.reader()
	if err != nil {
		return nil, 0, err
	}
	if f, ok := r.(*os.File); ok {
		var magic [4]byte
		n, _ := f.ReadAt(magic[:], 0)
		st, err := f.Stat()
		if err != nil {
			return nil, 0, err
		}
		if !symfmt.IsCompressed(magic[:n]) {
			return f, st.Size(), nil
		}
	}
	text, _, err := symfmt.Decompress(r)
	if err != nil {
		return nil, 0, err
	}
	f, err := os.CreateTemp("", "symtool-convert-*")
	if err != nil {
		return nil, 0, err
	}
	os.Remove(f.Name())
	in.close = append(in.close, f)
	size, err := io.Copy(f, text)
	return f, size, err
}

// onlyFor returns the formats that have a flag, if only some do.
func onlyFor(flag string) (read, write []string) {
	for _, f := range formats() {
		if slices.Contains(f.readFlags, flag) {
			read = append(read, f.name)
		}
		if slices.Contains(f.writeFlags, flag) || f.write != nil && slices.Contains(editFlags, flag) {
			write = append(write, f.name)
		}
	}
	return read, write
}

// fileHead is the beginning of a regular file, nil for others: reading would consume it.
func fileHead(path string) ([]byte, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return headOf(f)
}

// headOf reads the beginning of a file, which may be shorter than a head.
func headOf(r io.Reader) ([]byte, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(r, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || n > 0 {
		err = nil // a missing file has no format
	}
	return head[:n], err
}

// isOther returns an error if a dump has another format than the one that was named.
func isOther(in *input) error {
	if in.format.dump && dumpfile.FormatOf(in.path) != in.format.name {
		return fmt.Errorf("is not %s", in.format.title)
	}
	return nil
}
