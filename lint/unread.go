package lint

import (
	"errors"
	"io/fs"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// Unreadable returns the report of a file that could not be read.
func Unreadable(file string, err error) *Report {
	return &Report{File: file, Err: err, Counts: map[string]int{}}
}

// Unread returns the error that ended reading before the end of the file, or nil.
func (r *Report) Unread() error {
	if r.Err != nil {
		return r.Err
	}
	return r.Damage
}

// UnreadText returns Unread's message without the file's name; "" for a file that was read.
func (r *Report) UnreadText() string {
	err := r.Unread()
	if err == nil {
		return ""
	}
	why := bin.Bare(err, r.File)
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) && pathErr.Path == r.File {
		why = pathErr.Err.Error()
	}
	what := "not read: "
	if r.Err == nil {
		what = "not read to its end: "
	}
	return what + text.Printable(why)
}

// unreadable counts the files of which nothing is known.
func unreadable(reports []*Report) (n int) {
	for _, rep := range reports {
		if rep.Err != nil {
			n++
		}
	}
	return n
}
