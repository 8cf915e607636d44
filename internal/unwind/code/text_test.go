package code

import (
	"iter"
	"path/filepath"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// textOf returns the code of the libraries with names of patterns, but for large ones.
func textOf(patterns ...string) iter.Seq[[]byte] {
	const large = 8 << 20
	return func(yield func([]byte) bool) {
		for _, pattern := range patterns {
			names, _ := filepath.Glob(pattern)
			for _, name := range names {
				f, err := objfile.Open(name, object.DefaultLimits())
				if err != nil {
					continue
				}
				code, more := []byte(nil), true
				if s := f.Section(".text"); s != nil && s.Size() < large {
					code, _ = s.Data()
				}
				if len(code) > 0 {
					more = yield(code)
				}
				_ = f.Close()
				if !more {
					return
				}
			}
		}
	}
}
