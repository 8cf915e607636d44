package symbolizer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/symfmt"
)

// jsonPrinter prints llvm-symbolizer's JSON: one list for addresses on the command line, otherwise a line for
// each request.
type jsonPrinter struct {
	s    *Symbolizer
	w    *cli.Stdout
	list bool
	all  []any
}

// jsonAnswer has its fields in LLVM's order, which is alphabetical.
type jsonAnswer struct {
	Address    string       `json:",omitempty"`
	Data       *jsonData    `json:",omitempty"`
	Error      *jsonError   `json:",omitempty"`
	Loc        *[]jsonFrame `json:",omitempty"` // of a symbol; it may be empty
	ModuleName string
	SymName    string      `json:",omitempty"`
	Symbol     []jsonFrame `json:",omitempty"`
}

type jsonData struct{ Name, Size, Start string }

type jsonError struct{ Message string }

type jsonFrame struct {
	Column        uint32
	Discriminator uint32
	FileName      string
	FunctionName  string
	Line          uint32
	Source        string `json:",omitempty"`
	StartAddress  string
	StartFileName string
	StartLine     uint32
}

func (p *jsonPrinter) end() {
	if p.list {
		p.write(p.all)
	}
}

func (p *jsonPrinter) add(r *request, a jsonAnswer) {
	a.ModuleName = r.file
	if r.ok {
		a.Address = hexadecimal(r.addr)
	}
	if p.list {
		p.all = append(p.all, a)
	} else {
		p.write(a)
	}
}

func (p *jsonPrinter) write(v any) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if p.s.Pretty {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		panic(err) // v has only strings and numbers
	}
	p.w.WriteString(text.String())
}

func (p *jsonPrinter) code(r *request, frames []symfmt.SourceFrame) {
	if len(frames) == 0 {
		frames = make([]symfmt.SourceFrame, 1)
	}
	p.add(r, jsonAnswer{Symbol: p.frames(frames)})
}

func (p *jsonPrinter) symbol(r *request, frames []symfmt.SourceFrame) {
	all := append([]jsonFrame{}, p.frames(frames)...)
	p.add(r, jsonAnswer{Loc: &all, SymName: r.symbol})
}

func (p *jsonPrinter) frames(frames []symfmt.SourceFrame) (all []jsonFrame) {
	if len(frames) > 0 {
		withoutFile(&frames[0])
	}
	for i := range frames {
		f := &frames[i]
		one := jsonFrame{
			Column: f.Column, Discriminator: f.Discriminator, FileName: f.File.Path, FunctionName: f.Name, Line: f.Line,
			Source: p.s.context(f.File.Path, f.Line), StartFileName: f.StartFile.Path, StartLine: f.StartLine,
		}
		if p.s.Names == NoNames {
			one.FunctionName = ""
		}
		if f.HasStart {
			one.StartAddress = hexadecimal(uint64(f.Start))
		}
		all = append(all, one)
	}
	return all
}

func (p *jsonPrinter) data(r *request, sym *symbol) {
	if sym == nil {
		sym = &symbol{}
	}
	p.add(r, jsonAnswer{Data: &jsonData{Name: sym.name, Size: hexadecimal(sym.size), Start: hexadecimal(sym.addr)}})
}

func (p *jsonPrinter) fail(r *request, why string) {
	if why == "" {
		why = "FRAME is not supported"
	}
	p.add(r, jsonAnswer{Error: &jsonError{why}})
}

func hexadecimal(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }
