package formats

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dumpfile"
)

// Input is a file to convert.
type Input struct {
	Name   string // as given
	Path   string // "" if it can be read only once
	Format *Format

	stream *bufio.Reader // for input that can be read only once
	whole  *os.File      // the file behind stream, if that is standard input and can seek
	packed string        // compression, or ""
	close  []io.Closer
}

// Open opens a file and detects its format. from is the value of --from, or "". The caller must
// close the Input.
func Open(path, from string) (*Input, error) {
	in := &Input{Name: path, Path: path}
	err := in.open(path)
	if err == nil {
		err = in.detect(from)
	}
	if err != nil {
		in.Close()
		return nil, cli.InputError(in.Name, err)
	}
	return in, nil
}

// Close closes the files of the input.
func (in *Input) Close() {
	for _, c := range in.close {
		c.Close()
	}
	in.close = nil
}

// open opens a file that is not a regular file. Its first bytes must not be lost.
func (in *Input) open(path string) error {
	if path == "-" {
		in.Name, in.Path, in.stream = cli.StandardInput, "", bufio.NewReaderSize(os.Stdin, dumpfile.PeekSize)
		if at, err := os.Stdin.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			in.whole = os.Stdin
		}
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
	in.Path, in.stream, in.close = "", bufio.NewReaderSize(f, dumpfile.PeekSize), append(in.close, f)
	return nil
}

// detect determines the format from --from, or else from the contents, or else from the name.
func (in *Input) detect(from string) error {
	if from != "" {
		in.Format = Named(from)
		if in.Format.Dump {
			return isOther(in)
		}
		head, err := in.head()
		switch {
		case err != nil && len(head) == 0:
			return err
		case in.Format.named && !in.Format.Match(head):
			return cmp.Or(err, fmt.Errorf("is not %s", in.Format.Title))
		}
		return in.once()
	}
	if in.Format = Named(in.dumpFormat()); in.Format != nil {
		return nil
	}
	head, err := in.head()
	if err != nil && len(head) == 0 {
		return err
	}
	if in.Format = OfContent(head); in.Format == nil {
		in.Format, _ = OfName(in.Name)
	}
	if in.Format == nil || !in.Format.Reads() {
		if err != nil {
			return err
		}
		return newUnknownFormatError(in.Path)
	}
	return in.once()
}

// UnknownFormatError is the error for an input in no known format.
type UnknownFormatError struct {
	Text  string // what it is, and what can be read
	hints bool   // --from could help
}

func (e *UnknownFormatError) Error() string {
	if e.hints {
		return e.Text + "; --from names one"
	}
	return e.Text
}

// newUnknownFormatError returns an error that says what the file at path is. path may be "".
func newUnknownFormatError(path string) *UnknownFormatError {
	const what = "symbols or a dump"
	want := "want " + strings.Join(Names((*Format).Reads), ", ")
	text := cmp.Or(filekind.Not(path, what, want), "not "+what+", by content or by name: "+want)
	return &UnknownFormatError{text, strings.HasSuffix(text, want)}
}

// once returns an error if the input can be read only once and its format needs random access.
func (in *Input) once() error {
	switch {
	case in.Path == "" && !in.Format.Packed && !in.Format.piped:
		return fmt.Errorf("%s needs random access: want a regular file", in.Format.Title)
	case in.packed != "" && !in.Format.Packed && !in.Format.piped:
		return fmt.Errorf("%s in %s: decompress it first", in.Format.Title, in.packed)
	}
	return isOther(in)
}

// head returns the start of the contents, decompressed if necessary, and the error that cut it short. What was read up
// to an error may suffice to detect the format: reading the input returns the error again.
func (in *Input) head() ([]byte, error) {
	if in.stream != nil {
		head, err := in.stream.Peek(filekind.HeadSize)
		if symfmt.IsCompressed(head) {
			// The stream continues here, decompressed.
			text, packed, err := symfmt.Decompress(in.stream)
			if err != nil {
				return nil, err
			}
			in.packed, in.stream = packed, bufio.NewReader(text)
			head, err = in.stream.Peek(filekind.HeadSize)
			return head, filekind.NotEnd(err)
		}
		return head, filekind.NotEnd(err)
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, packed, err := symfmt.Decompress(f)
	if err != nil {
		return nil, err
	}
	in.packed = packed
	return filekind.Head(text)
}

// Reader returns a reader of the contents, decompressed if necessary.
func (in *Input) Reader() (io.Reader, error) {
	if in.stream != nil {
		return in.stream, nil
	}
	f, err := os.Open(in.Path)
	if err == nil {
		in.close = append(in.close, f)
	}
	return f, err
}

// random returns the decompressed contents for random access. Compressed input, or input that can
// be read only once, is copied into a temporary file.
func (in *Input) random() (io.ReaderAt, int64, error) {
	r, err := in.Reader()
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
	f, err := scratch.File("")
	if err != nil {
		return nil, 0, err
	}
	in.close = append(in.close, f)
	size, err := io.Copy(f, text)
	return f, size, err
}

// OnlyFor returns the names of the formats that have flag for reading and for writing. Both are
// nil if every format has it.
func OnlyFor(flag string) (read, write []string) {
	for _, f := range All() {
		if slices.Contains(f.ReadFlags, flag) {
			read = append(read, f.Name)
		}
		if slices.Contains(f.WriteFlags, flag) || f.Write != nil && !f.OnlyRules() && slices.Contains(EditFlags, flag) {
			write = append(write, f.Name)
		}
	}
	return read, write
}

// Head returns the start of a regular file. For other files it returns nil, since reading would
// consume their contents.
func Head(path string) ([]byte, error) {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return filekind.Head(f)
}

// isOther returns an error if in is not in the format of dumps that --from names.
func isOther(in *Input) error {
	if in.Format.Dump && in.dumpFormat() != in.Format.Name {
		return fmt.Errorf("is not %s", in.Format.Title)
	}
	return nil
}

// dumpFormat returns the name of a dump's format, or "".
func (in *Input) dumpFormat() string {
	if in.stream != nil {
		return dumpfile.FormatOfStream(in.stream)
	}
	return dumpfile.FormatOf(in.Path)
}

// Dump opens a dump.
func (in *Input) Dump(ctx context.Context, o dumpfile.Options) (*dumpfile.File, error) {
	o.Name = in.Name
	if in.whole != nil {
		if _, err := in.whole.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		return dumpfile.ReadFrom(ctx, in.whole, o)
	}
	if in.stream != nil {
		return dumpfile.ReadFrom(ctx, in.stream, o)
	}
	return dumpfile.Open(ctx, in.Path, o)
}
