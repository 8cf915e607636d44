package cli

import (
	"errors"
	"fmt"
	"io"
)

// Exit statuses. With several inputs the highest counts.
const (
	StatusOK       = 0 // done and clean
	StatusFindings = 1 // done, with findings
	StatusUsage    = 2
	StatusInput    = 3 // an input was unreadable or damaged; what could be kept was written
	StatusOutput   = 4 // the output could not be written
)

// StatusError ends a command with a status. Without err, everything was reported before.
type StatusError struct {
	Status int
	Err    error
}

func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *StatusError) Unwrap() error { return e.Err }

// UsageError is an error in the arguments of a command, which is "" for the program itself.
type UsageError struct {
	command string
	msg     string
}

func (e *UsageError) Error() string { return e.msg }

// EndedError ends a command that a signal ends, with a status of its own.
type EndedError struct{ Status int }

func (e *EndedError) Error() string { return fmt.Sprintf("ended with status %d", e.Status) }

func Usagef(command, format string, args ...any) error {
	return &UsageError{command, fmt.Sprintf(format, args...)}
}

// AsUsageError returns err as a usage error of a command, unless it has a status of its own.
func AsUsageError(command string, err error) error {
	var status *StatusError
	if errors.As(err, &status) {
		return err
	}
	return Usagef(command, "%v", err)
}

// WriteText writes a whole answer to standard output.
func WriteText(w io.Writer, text string) error {
	out := NewStdout(w)
	_, err := io.WriteString(out, text)
	if err == nil {
		err = out.Commit()
	}
	return OutputError(out.Name(), err)
}
