package symsframe

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// WriteText writes the comparison for people.
func (c *Comparison) WriteText(w io.Writer) error {
	p := printer{w: w}
	p.printf("%-8s %10s %10s %12s %14s\n", "", "functions", "rows", "code bytes", "section bytes")
	for _, s := range []struct {
		name string
		*Coverage
	}{{".sframe", &c.SFrame}, {"CFI", &c.CFI}} {
		p.printf("%-8s %10d %10d %12d %14d\n", s.name, s.Funcs, s.Rows, s.Bytes, s.SectionBytes)
	}
	p.printf("\n%d bytes of code equal, %d different\n", c.Equal, c.Different)
	p.printf("%d bytes and %d functions only in .sframe\n", c.OnlySFrame, len(c.FuncsOnlySFrame))
	p.printf("%d bytes and %d functions only in CFI\n", c.OnlyCFI, len(c.FuncsOnlyCFI))
	for i := range c.Differences {
		d := &c.Differences[i]
		p.printf("\n%#x, %d bytes, different:\n  .sframe  %s\n  CFI      %s\n", c.addr(d.RVA), d.Size, d.SFrame, d.CFI)
	}
	p.funcs(c, ".sframe", c.FuncsOnlySFrame)
	p.funcs(c, "CFI", c.FuncsOnlyCFI)
	return p.err
}

func (c *Comparison) addr(rva symfmt.RVA) uint64 { return c.Base + uint64(rva) }

// printer keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) funcs(c *Comparison, name string, list []symfmt.Range) {
	for i, f := range list {
		if i == 0 {
			p.printf("\nOnly in %s:\n", name)
		}
		p.printf("  %#x, %d bytes\n", c.addr(f.RVA), f.Size)
	}
}

// The document written by WriteJSON. Addresses are the file's, in hexadecimal.
type (
	jsonComparison struct {
		SFrame      jsonCoverage     `json:"sframe"`
		CFI         jsonCoverage     `json:"cfi"`
		Equal       uint64           `json:"equal_bytes"`
		Different   uint64           `json:"different_bytes"`
		OnlySFrame  uint64           `json:"only_sframe_bytes"`
		OnlyCFI     uint64           `json:"only_cfi_bytes"`
		Differences []jsonDifference `json:"differences"`
		FuncsSFrame []jsonRange      `json:"only_sframe_functions"`
		FuncsCFI    []jsonRange      `json:"only_cfi_functions"`
	}
	jsonCoverage struct {
		Funcs        int    `json:"functions"`
		Rows         int    `json:"rows"`
		Bytes        uint64 `json:"code_bytes"`
		SectionBytes uint64 `json:"section_bytes"`
	}
	jsonRange struct {
		Start string `json:"start"`
		Size  uint64 `json:"size"`
	}
	jsonDifference struct {
		jsonRange
		SFrame string `json:"sframe"`
		CFI    string `json:"cfi"`
	}
)

// WriteJSON writes the comparison for programs.
func (c *Comparison) WriteJSON(w io.Writer) error {
	out := jsonComparison{
		SFrame: jsonCoverage(c.SFrame), CFI: jsonCoverage(c.CFI),
		Equal: c.Equal, Different: c.Different, OnlySFrame: c.OnlySFrame, OnlyCFI: c.OnlyCFI,
		Differences: []jsonDifference{},
		FuncsSFrame: c.jsonRanges(c.FuncsOnlySFrame), FuncsCFI: c.jsonRanges(c.FuncsOnlyCFI),
	}
	for _, d := range c.Differences {
		out.Differences = append(out.Differences, jsonDifference{c.jsonRange(d.Range), d.SFrame, d.CFI})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func (c *Comparison) jsonRange(r symfmt.Range) jsonRange {
	return jsonRange{fmt.Sprintf("%#x", c.addr(r.RVA)), r.Size}
}

func (c *Comparison) jsonRanges(list []symfmt.Range) []jsonRange {
	out := make([]jsonRange, 0, len(list))
	for _, r := range list {
		out = append(out, c.jsonRange(r))
	}
	return out
}
