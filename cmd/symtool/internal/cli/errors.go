package cli

import (
	"errors"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// InputError gives err the name of the file, unless it has one. An input error stays as it is: it
// may name another file.
func InputError(file string, err error) error {
	if known, ok := err.(*StatusError); ok {
		return known
	}
	return &StatusError{StatusInput, &namedError{err, Named(file, err)}}
}

// Named returns err's message with the file in front, unless err names one.
func Named(file string, err error) string {
	if path, ok := err.(*fs.PathError); ok && path.Op == "open" {
		return path.Path + ": " + path.Err.Error() // without the system's call
	}
	if namesFile(err) {
		return err.Error()
	}
	return file + ": " + err.Error()
}

// namedError is an error with another message, which names the file.
type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }

func (e *namedError) Unwrap() error { return e.error }

// namesFile reports whether the message of err has the path of a file.
func namesFile(err error) bool {
	var (
		binErr  *bin.Error
		pathErr *fs.PathError
		syntax  *symfmt.SyntaxError
	)
	return errors.As(err, &binErr) && binErr.File != "" || errors.As(err, &pathErr) || errors.As(err, &syntax) && syntax.File != ""
}

// FileError is InputError for an error that has the name of another form.
func FileError(name string, err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return InputError(name, err)
}
