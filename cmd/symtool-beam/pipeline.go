package main

import (
	"context"
	"errors"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/symtool/symtool/internal/par"
)

func init() {
	register.DoFn5x1[context.Context, Shard, func(Module, Counts), func(Totals), func(Damage), error](&walkFn{})
	register.Emitter2[Module, Counts]()
	register.Emitter1[Totals]()
	register.Emitter1[Damage]()
	register.Combiner1[Counts](&countsFn{})
	register.Combiner1[Totals](&totalsFn{})
	register.DoFn5x1[context.Context, []byte, func(*Module, *Counts) bool, func(*Totals) bool, func(*Damage) bool, error](&tablesFn{})
	register.Iter2[Module, Counts]()
	register.Iter1[Totals]()
	register.Iter1[Damage]()
}

// build makes the pipeline:
//
//	shards -> Reshuffle -> Walk -> lines-*.jsonl, a file for each shard
//	                        |-> modules -> sum by module ------> Tables
//	                        |-> totals  -> sum ----------------> (side inputs)
//	                        '-> damaged dumps, the dead letters ->
//
// Lines do not go through the runner: some have megabytes, and a shard's file has the
// same bytes whoever writes it, and as often as it is written.
func build(s beam.Scope, c Config, dir string, shards []Shard) {
	work := beam.Reshuffle(s, beam.CreateList(s, shards))
	modules, all, damaged := beam.ParDo3(s.Scope("Walk"), &walkFn{Config: c, Dir: dir}, work)
	counted := beam.CombinePerKey(s.Scope("Modules"), &countsFn{}, modules)
	total := beam.Combine(s.Scope("Totals"), &totalsFn{}, all)
	beam.ParDo0(s.Scope("Tables"), &tablesFn{Dir: dir}, beam.Impulse(s),
		beam.SideInput{Input: counted}, beam.SideInput{Input: total}, beam.SideInput{Input: damaged})
}

// The metrics. Runners count attempts: dumps of a bundle that is tried again count again. The
// numbers of summary.json are exact.
var (
	dumpsOK      = beam.NewCounter("symtool", "dumps_ok")
	dumpsDamaged = beam.NewCounter("symtool", "dumps_damaged")
	dumpsFailed  = beam.NewCounter("symtool", "dumps_failed")
	dumpMS       = beam.NewDistribution("symtool", "dump_ms")
)

// walkFn walks the dumps of a shard.
type walkFn struct {
	Config Config
	Dir    string // of the output

	shared *shared
}

// Setup finds the symbols, which all bundles of the process share.
func (f *walkFn) Setup() (err error) {
	f.shared, err = acquire(f.Config)
	return err
}

// Teardown releases the symbols.
func (f *walkFn) Teardown() error {
	if f.shared == nil {
		return nil // Setup failed
	}
	err := f.shared.release()
	f.shared = nil
	return err
}

// ProcessElement writes the shard's lines and emits their counts. It may be called again for a
// shard, and does the same then.
func (f *walkFn) ProcessElement(ctx context.Context, shard Shard, modules func(Module, Counts), all func(Totals), damaged func(Damage)) error {
	names, err := shard.names(ctx, f.Dir)
	if err != nil {
		return err
	}
	return writeWhole(ctx, join(f.Dir, shard.name("lines", "jsonl")), func(w io.Writer) error {
		return f.shared.walkAll(ctx, names, func(i int, d *walked) error {
			if err := f.Config.writeLine(w, d.Walked); err != nil {
				return err
			}
			at := int64(shard.First + i + 1)
			if d.Err == nil {
				for m, counts := range countModules(d.Walked, at) {
					modules(m, *counts)
				}
			}
			t := totals(d.Walked)
			all(t)
			if row, ok := damageOf(d.Walked, at); ok {
				damaged(row)
			}
			dumpsOK.Inc(ctx, t.OK)
			dumpsDamaged.Inc(ctx, t.Damaged)
			dumpsFailed.Inc(ctx, t.Failed)
			dumpMS.Update(ctx, d.ms)
			return nil
		})
	})
}

// walkAll walks dumps concurrently and calls done with each in order, in the caller's goroutine: a
// DoFn must use what Beam gives it in its own.
func (s *shared) walkAll(ctx context.Context, names []string, done func(int, *walked) error) error {
	open := make([]*walked, len(names))
	closeOne := func(i int) error {
		d := open[i]
		if open[i] = nil; d == nil {
			return nil
		}
		return d.release()
	}
	err := par.Ordered(ctx, par.Jobs(s.config.Jobs), len(names),
		func(ctx context.Context, _, i int) (*walked, error) {
			d, err := s.walkDump(ctx, names[i])
			open[i] = d
			return d, err
		},
		func(i int, d *walked) error { return errors.Join(done(i, d), closeOne(i)) })
	for i := range open { // those behind an error
		err = errors.Join(err, closeOne(i))
	}
	return err
}

// countsFn sums the counts of a module.
type countsFn struct{}

// CreateAccumulator returns the sum of no dumps.
func (*countsFn) CreateAccumulator() Counts { return Counts{} }

// AddInput adds the counts of a dump.
func (*countsFn) AddInput(a, c Counts) Counts { a.add(c); return a }

// MergeAccumulators adds two sums.
func (*countsFn) MergeAccumulators(a, b Counts) Counts { a.add(b); return a }

// ExtractOutput returns the sum itself.
func (*countsFn) ExtractOutput(a Counts) Counts { return a }

// totalsFn sums the counts of dumps.
type totalsFn struct{}

// CreateAccumulator returns the sum of no dumps.
func (*totalsFn) CreateAccumulator() Totals { return Totals{} }

// AddInput adds the totals of a dump.
func (*totalsFn) AddInput(a, t Totals) Totals { a.add(t); return a }

// MergeAccumulators adds two sums.
func (*totalsFn) MergeAccumulators(a, b Totals) Totals { a.add(b); return a }

// ExtractOutput returns the sum itself.
func (*totalsFn) ExtractOutput(a Totals) Totals { return a }

// tablesFn writes the tables. It is called once.
type tablesFn struct {
	Dir string
}

// ProcessElement writes the tables, and summary.json as the last of them.
func (f *tablesFn) ProcessElement(ctx context.Context, _ []byte, modules func(*Module, *Counts) bool, all func(*Totals) bool, damaged func(*Damage) bool) error {
	r := &tables{}
	var m Module
	var c Counts
	for modules(&m, &c) {
		r.rows = append(r.rows, newRow(m, c))
	}
	for t := (Totals{}); all(&t); {
		r.totals.add(t)
	}
	for d := (Damage{}); damaged(&d); d = (Damage{}) {
		r.damaged = append(r.damaged, d)
	}
	return r.write(ctx, f.Dir)
}
