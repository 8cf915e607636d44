package main

import (
	"errors"
	"fmt"
	"io"
)

// Exit statuses. With several inputs the highest counts.
const (
	statusOK       = 0 // done and clean
	statusFindings = 1 // done, with findings
	statusUsage    = 2
	statusInput    = 3 // an input was unreadable or damaged; what could be kept was written
	statusOutput   = 4 // the output could not be written
)

// statusError ends a command with a status. Without err, everything was reported before.
type statusError struct {
	status int
	err    error
}

func (e *statusError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("status %d", e.status)
	}
	return e.err.Error()
}

func (e *statusError) Unwrap() error { return e.err }

// usageError is an error in the arguments of a command, which is "" for the program itself.
type usageError struct {
	command string
	msg     string
}

func (e *usageError) Error() string { return e.msg }

// endedError ends a command that a signal ends, with a status of its own.
type endedError struct{ status int }

func (e *endedError) Error() string { return fmt.Sprintf("ended with status %d", e.status) }

func usagef(command, format string, args ...any) error {
	return &usageError{command, fmt.Sprintf(format, args...)}
}

// asUsageError returns err as a usage error of a command, unless it has a status of its own.
func asUsageError(command string, err error) error {
	var status *statusError
	if errors.As(err, &status) {
		return err
	}
	return usagef(command, "%v", err)
}

// writeText writes a whole answer to standard output.
func writeText(w io.Writer, text string) error {
	out := newStdout(w)
	_, err := io.WriteString(out, text)
	if err == nil {
		err = out.Commit()
	}
	return outputError(out.Name(), err)
}
