package fleet

import (
	"strconv"

	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// Words of signatures for failed memory requests, by the size of the request.
const (
	memorySmall   = "small"
	memoryLarge   = "large"
	memoryUnknown = "unknown"
)

// maxSmall is the size in bytes up to which a request for memory is small, in Mozilla's crash statistics. The
// function that made a small request means nothing, because there was no memory left.
const maxSmall = 256 << 10

// sizeAnnotation is the annotation in which Mozilla's programs give the size of the failed request in bytes.
const sizeAnnotation = "OOMAllocationSize"

// cause is why a process crashed, according to the dump or to the frames that a signature leaves out.
type cause struct {
	overflow bool   // the stack overflowed
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

// before returns the parts of a signature, preceded by the cause.
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
