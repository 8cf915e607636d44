package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/walk/dumpfile"
)

// Exit statuses. With several inputs, the highest status is returned.
const (
	StatusOK       = 0 // done and clean
	StatusFindings = 1 // done, with findings
	StatusUsage    = 2
	StatusInput    = 3 // an input was unreadable or damaged; what could be read was written
	StatusOutput   = 4 // the output could not be written
)

// StatusError ends a command with the exit status. If err is nil, everything has been reported
// already.
type StatusError struct {
	Status int
	Err    error

	// Written means that the whole output was written, as far as a damaged input allows, although
	// Status reports a problem.
	Written bool
}

func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *StatusError) Unwrap() error { return e.Err }

// UsageError is an error in the arguments of a command, or of the program itself if the command is
// "".
type UsageError struct {
	command string
	msg     string
}

func (e *UsageError) Error() string { return e.msg }

// EndedError ends a command that was stopped by a signal, with an exit status of the command's own.
type EndedError struct{ Status int }

func (e *EndedError) Error() string { return fmt.Sprintf("ended with status %d", e.Status) }

// Usagef returns an error in the arguments of a command, or of the program itself if command is "".
func Usagef(command, format string, args ...any) error {
	return &UsageError{command, fmt.Sprintf(format, args...)}
}

// AsUsageError returns err as a usage error of a command, unless it has an exit status of its own.
func AsUsageError(command string, err error) error {
	var status *StatusError
	if errors.As(err, &status) {
		return err
	}
	return Usagef(command, "%v", err)
}

// WriteText writes text to standard output, whole.
func WriteText(w io.Writer, text string) error {
	out := NewStdout(w)
	_, err := io.WriteString(out, text)
	if err == nil {
		err = out.Commit()
	}
	return OutputError(out.Name(), err)
}

// InputError adds the name of the file to err unless err already has one. It returns an input error
// unchanged, as that may name another file.
func InputError(file string, err error) error {
	if known, ok := err.(*StatusError); ok {
		return known
	}
	return &StatusError{Status: StatusInput, Err: &namedError{err, Named(file, err)}}
}

// Named returns err's message prefixed with the file's name, unless err already names a file.
func Named(file string, err error) string {
	if not := otherKind(file, err); not != "" {
		return not
	}
	if path, ok := err.(*fs.PathError); ok && (path.Op == "open" || path.Op == "stat") {
		return path.Path + ": " + path.Err.Error() // without the name of the system call
	}
	if namesFile(err) {
		return err.Error()
	}
	return file + ": " + err.Error()
}

// WantBinary says what a binary is, for a message about a file that is not one.
const WantBinary = "want an ELF, Windows or macOS file"

// otherKind returns the message for a file that another command reads, or "".
func otherKind(file string, err error) string {
	var want, forms string
	switch {
	case errors.Is(err, objfile.ErrNotBinary):
		want, forms = "a binary", WantBinary
	case errors.Is(err, dumpfile.ErrNotDump):
		want, forms = "a dump", "want a minidump, an ELF core or a microdump"
	default:
		return ""
	}
	var at *bin.Error
	if errors.As(err, &at) && at.File != "" {
		file = at.File
	}
	if not := filekind.Not(file, want, forms); not != "" {
		return file + ": " + not
	}
	return ""
}

// namedError is an error with another message, which contains the name of the file.
type namedError struct {
	error
	text string
}

func (e *namedError) Error() string { return e.text }

func (e *namedError) Unwrap() error { return e.error }

// namesFile reports whether err's message contains the path of a file.
func namesFile(err error) bool {
	var (
		binErr  *bin.Error
		pathErr *fs.PathError
		syntax  *symfmt.SyntaxError
		inJSON  *symjson.Error
	)
	return errors.As(err, &binErr) && binErr.File != "" || errors.As(err, &pathErr) || errors.As(err, &syntax) && syntax.File != "" ||
		errors.As(err, &inJSON) && inJSON.File != ""
}

// FileError is like InputError, for an error that has another form of the file's name.
func FileError(name string, err error) error {
	return InputError(name, bin.WithoutPath(err))
}
