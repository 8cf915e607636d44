package main

import (
	"bytes"
	"context"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/walk"
)

// The formats of convert. A new one is a row in one of these tables.

// inputFormat is a format that convert reads. It tells a file by its first
// bytes; the last row takes what no other does.
type inputFormat struct {
	name    string
	matches func(head []byte) bool
	read    func(ctx context.Context, c *converter) (*unwinding, error)
}

var inputFormats = []inputFormat{
	{"an SFrame section", func(head []byte) bool { return sframe.Magic(head) != nil }, readSFrameSection},
	{"a symbol file", isSymbolFile, readSymbolFile},
	{"an ELF file", func([]byte) bool { return true }, readELF},
}

// outputFormat is a format that convert writes.
type outputFormat struct {
	name  string // value of --to
	write func(ctx context.Context, c *converter, u *unwinding, out io.Writer) error
}

var outputFormats = []outputFormat{
	{"sframe", writeSFrame},
}

func outputNames() (names []string) {
	for i := range outputFormats {
		names = append(names, outputFormats[i].name)
	}
	return append(names, walk.Formats()...) // of dumps: convertdump.go
}

// unwinding is how the frames of a binary are unwound.
type unwinding struct {
	abi   sframe.ABI
	funcs []sframe.Func // at addresses of the binary
	addr  uint64        // of the .sframe section that they come from, if any

	damage []bin.Problem // of the input
	lost   []bin.Problem // what SFrame has no form for
}

// isSymbolFile knows Breakpad's text, which may be compressed with gzip or zstd.
func isSymbolFile(head []byte) bool {
	for _, start := range []string{"MODULE ", "\x1f\x8b", "\x28\xb5\x2f\xfd"} {
		if bytes.HasPrefix(head, []byte(start)) {
			return true
		}
	}
	return false
}
