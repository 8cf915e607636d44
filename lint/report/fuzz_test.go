package report

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// FuzzNames checks that, whatever the names are, the output is written, does not affect a terminal,
// and contains the right numbers. Each execution writes one of the outputs.
func FuzzNames(f *testing.F) {
	fuzzNames(f, slices.DeleteFunc(slices.Sorted(maps.Keys(outputs)), func(name string) bool { return name == "findings.sarif" }))
}

// FuzzNamesSARIF is FuzzNames for SARIF, which takes twenty times as long: it lists all rules.
func FuzzNamesSARIF(f *testing.F) { fuzzNames(f, []string{"findings.sarif"}) }

func fuzzNames(f *testing.F, names []string) {
	if testing.Short() {
		f.Skip("takes long with the race detector")
	}
	for i, text := range []string{nameText, hostileText} {
		f.Add([]byte(text), uint8(i))
	}
	for i := range names {
		f.Add([]byte(hostileText), uint8(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, output uint8) {
		filter := filter.New(nil, nil)
		r, err := lint.Run(context.Background(), symfmt.TextRecords(bytes.NewReader(data)), lint.Options{File: "a.sym", Filter: filter, MaxPerRule: 2})
		if err != nil {
			return
		}
		counted := 0
		for _, n := range r.Counts {
			counted += n
		}
		if counted != r.Found() || counted < len(r.Findings) {
			t.Errorf("%d findings by rule, %d by severity, %d kept", counted, r.Found(), len(r.Findings))
		}
		name := names[int(output)%len(names)]
		lines := string(bytes.ReplaceAll(written(t, outputs[name], &Results{Reports: []*finding.Report{r}, Filter: filter}), []byte("\n"), nil))
		if text.Printable(lines) != lines {
			t.Errorf("%s: %q", name, lines)
		}
	})
}
