//go:build !linux || !(amd64 || arm64)

package live

import (
	"context"

	"github.com/symtool/symtool/walk/dump"
)

// Capture returns ErrUnsupported.
func Capture(context.Context, int, string, Options) (*dump.Dump, error) {
	return nil, ErrUnsupported
}
