package object

import "errors"

// ErrOtherBuild is the kind of the error of a file that has another build-id than the
// one wanted.
var ErrOtherBuild = errors.New("another build")

// Tried is a place where no debug file was found.
type Tried struct {
	Path, Why  string
	OtherBuild bool // there is one, of another build
}

func (t Tried) String() string { return t.Path + ": " + t.Why }

// Lines returns what String makes of each place.
func Lines(tried []Tried) []string {
	var lines []string
	for _, t := range tried {
		lines = append(lines, t.String())
	}
	return lines
}
