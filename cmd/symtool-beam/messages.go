package main

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
)

// quiet drops Beam's messages below warnings, unless verbose.
func quiet(verbose bool) {
	if verbose {
		return
	}
	log.LogLevel = "error" // prism's level, from which it sets slog's
	log.SetLogger(warnings{&log.Standard{}})
}

// warnings is a logger that drops everything below warnings.
type warnings struct{ log.Logger }

// Log implements Logger.
func (w warnings) Log(ctx context.Context, severity log.Severity, depth int, text string) {
	if severity >= log.SevWarn {
		w.Logger.Log(ctx, severity, depth+1, text)
	}
}

// writeMetrics writes our metrics as the runner reports them.
func writeMetrics(w io.Writer, all metrics.Results) {
	q := all.Query(func(r metrics.SingleResult) bool { return r.Namespace() == "symtool" })
	for _, c := range q.Counters() {
		fmt.Fprintf(w, "%s %d\n", c.Name(), c.Result())
	}
	for _, d := range q.Distributions() {
		v := d.Result()
		fmt.Fprintf(w, "%s count %d sum %d min %d max %d\n", d.Name(), v.Count, v.Sum, v.Min, v.Max)
	}
}
