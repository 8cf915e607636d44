package signature

import (
	"strconv"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// What a signature says about memory that could not be had, by the size of the request.
const (
	memorySmall   = "small"
	memoryLarge   = "large"
	memoryUnknown = "unknown"
)

// maxSmall is the size in bytes up to which a request for memory is small, in Mozilla's crash statistics: who made it
// says nothing, as there was no memory left.
const maxSmall = 256 << 10

// sizeAnnotation is the annotation of Mozilla's programs with the number of bytes that could not be had.
const sizeAnnotation = "OOMAllocationSize"

// cause is why a process crashed, as far as the dump or the frames that a signature leaves out say.
type cause struct {
	overflow bool   // of the stack
	memory   string // "" if memory was not the reason
}

// of takes the cause from the dump.
func (c *cause) of(d *dump.Dump, s *walk.Stack) {
	c.overflow = s.Overflow
	for i := range d.Annotations {
		if a := &d.Annotations[i]; a.Key == sizeAnnotation {
			c.memory = memoryOf(a.Value)
		}
	}
}

// memoryOf returns the word for the size of a request.
func memoryOf(size string) string {
	switch n, err := strconv.ParseUint(size, 10, 64); {
	case err != nil:
		return memoryUnknown
	case n == 0:
		return ""
	case n <= maxSmall:
		return memorySmall
	}
	return memoryLarge
}

// before returns the parts of a signature with the cause in front.
func (c *cause) before(parts []string) []string {
	if c.overflow {
		parts = append([]string{"stackoverflow"}, parts...)
	}
	switch c.memory {
	case "":
		return parts
	case memorySmall:
		return []string{"OOM", memorySmall}
	}
	return append([]string{"OOM", c.memory}, parts...)
}
