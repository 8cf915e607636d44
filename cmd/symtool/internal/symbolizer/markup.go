package symbolizer

import (
	"bufio"
	"errors"
	"io"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/markup"
)

// longestMarkup is the maximum length of a line in a log with markup. A longer line is read
// as several lines.
const longestMarkup = 1 << 20

// filter replaces the markup in a log, line by line.
func (s *Symbolizer) filter(in io.Reader, out *cli.Stdout) error {
	f := &markup.Filter{Symbols: markupSymbols{s}, Color: s.Color, Problem: func(problem, element string) { s.note("%s: %s", short(element), problem) }}
	lines := bufio.NewReaderSize(in, longestMarkup)
	var text []byte
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return cli.InputError("standard input", err)
		}
		if err == io.EOF && len(line) > 0 {
			line = append(line[:len(line):len(line)], '\n') // the last line of LLVM's output also ends in one
		}
		text = text[:0]
		if len(line) > 0 {
			text = f.Line(text, line)
		}
		if err == io.EOF {
			text = f.End(text)
		}
		out.Write(text)
		if lines.Buffered() == 0 || err == io.EOF {
			if err := out.Flush(); err != nil {
				return cli.OutputError(out.Name(), err)
			}
		}
		if err == io.EOF || s.ctx.Err() != nil {
			return s.ctx.Err()
		}
	}
}

// short shortens text for a message.
func short(text string) string {
	if len(text) > 100 {
		return text[:100] + "..."
	}
	return text
}

// markupSymbols implements markup.Symbols for the modules that markup names by build-id.
type markupSymbols struct{ *Symbolizer }

// open returns the file of a module, or nil.
func (s markupSymbols) open(m *markup.Module) *module {
	opened, err := s.module(&request{ok: true, build: m.Build})
	if err != nil {
		s.note("%s: %v", m.Name, err)
		return nil
	}
	return opened
}

// Code implements markup.Symbols.
func (s markupSymbols) Code(m *markup.Module, addr uint64, inlines bool) (frames []markup.Frame, ok bool) {
	opened := s.open(m)
	if opened == nil {
		return nil, false
	}
	for _, f := range s.framesAt(opened, addr, inlines) {
		one := markup.Frame{Function: f.Name, File: f.File.Path, Line: f.Line, Column: f.Column}
		if s.Names == NoNames {
			one.Function = ""
		}
		frames = append(frames, one)
	}
	opened.report(s.Symbolizer)
	return frames, true
}

// Data implements markup.Symbols.
func (s markupSymbols) Data(m *markup.Module, addr uint64) (name string, ok bool) {
	opened := s.open(m)
	if opened == nil {
		return "", false
	}
	if sym := s.dataAt(opened, addr); sym != nil {
		name = sym.name
	}
	return name, true
}

// Name implements markup.Symbols. LLVM always prints these names demangled, whatever the
// options say.
func (s markupSymbols) Name(linkage string) string { return s.demangle(linkage) }
