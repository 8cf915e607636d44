// Package bin reads binary sections: a cursor that knows its position and keeps
// its first error, as package damage reports it.
package bin

import (
	"errors"
	"io/fs"

	"github.com/symtool/symtool/symfmt/damage"
)

// Error and Problem are the forms in which damage is reported.
type (
	Error   = damage.Error
	Problem = damage.Problem
)

// Bare returns the message of err without the file, for callers that have
// already named it.
func Bare(err error, file string) string {
	if e, ok := err.(*Error); ok && e.File == file {
		bare := *e
		bare.File = ""
		return bare.Error()
	}
	return err.Error()
}

// WithoutPath drops the operation and the path from a file system error, for callers that name the file in their
// own way.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
