package symbolizer

import (
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// frames returns the requested frames at an address.
func (s *Symbolizer) frames(m *module, addr uint64) []symfmt.SourceFrame {
	return s.framesAt(m, addr, s.Inlines)
}

// framesAt returns the frames at an address in the form in which they are printed: Name is the function's name,
// and Path the file's.
func (s *Symbolizer) framesAt(m *module, addr uint64, inlines bool) []symfmt.SourceFrame {
	frames := m.source(addr)
	base, _ := m.symbols.Base()
	for i := range frames {
		f := &frames[i]
		if s.Names == Linkage || s.Style == Elfutils {
			f.Name = f.FullName()
		}
		f.Start += symfmt.RVA(base)
	}
	frames = s.asAsked(m, addr, frames, inlines)
	for i := range frames {
		f := &frames[i]
		if s.Demangle {
			f.Name = s.demangle(f.Name)
		}
		f.File.Path, f.StartFile.Path = s.path(f.File), s.path(f.StartFile)
	}
	return frames
}

// asAsked applies the symbol table, which has the name of the outermost function if linkage names are requested.
// It removes inlined functions if they are not requested.
func (s *Symbolizer) asAsked(m *module, addr uint64, frames []symfmt.SourceFrame, inlines bool) []symfmt.SourceFrame {
	switch s.Style {
	case Addr2line:
		return s.asAddr2line(m, addr, frames)
	case Elfutils:
		return frames
	}
	// If only one frame is printed, LLVM's style GNU names the innermost function; other styles name the outermost
	// function.
	if !inlines && s.Style != GNU {
		frames = frames[:min(1, len(frames))]
	}
	if sym := m.symbolAt(addr); sym != nil && s.Names == Linkage {
		if len(frames) == 0 {
			frames = []symfmt.SourceFrame{{File: symfmt.SourceFile{Path: sym.file, Relative: sym.file}}}
		}
		last := &frames[len(frames)-1]
		last.Name, last.Start, last.HasStart = sym.name, symfmt.RVA(sym.addr), true
	}
	if !inlines {
		frames = frames[:min(1, len(frames))]
	}
	return frames
}

// asAddr2line applies the symbol table as binutils does: to code that is in no function of the debug information,
// or in one without a name.
func (s *Symbolizer) asAddr2line(m *module, addr uint64, frames []symfmt.SourceFrame) []symfmt.SourceFrame {
	sym := m.functionBefore(addr)
	if len(frames) == 0 {
		if sym == nil {
			return nil
		}
		return []symfmt.SourceFrame{{Name: sym.name, File: symfmt.SourceFile{Path: sym.file, Relative: sym.file}}}
	}
	if f := &frames[0]; sym != nil && f.Linkage == "" && f.Name == "" {
		f.Name = sym.name
	}
	if !s.Inlines {
		frames = frames[:1]
	}
	return frames
}

// path returns the path of a file in the form in which it is printed.
func (s *Symbolizer) path(f symfmt.SourceFile) string {
	switch s.Paths {
	case RelativePaths:
		return f.Relative
	case BaseNames:
		return f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	}
	return f.Path
}
