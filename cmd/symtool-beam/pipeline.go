package main

import (
	"context"
	"errors"
	"io"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/walk/fleet"
)

func init() {
	register.DoFn6x1[context.Context, Shard, func(fleet.Module, fleet.Counts), func(string, fleet.Crashes), func(fleet.Totals), func(Damage), error](&walkFn{})
	register.Emitter2[fleet.Module, fleet.Counts]()
	register.Emitter2[string, fleet.Crashes]()
	register.Emitter1[fleet.Totals]()
	register.Emitter1[Damage]()
	register.Combiner1[fleet.Counts](&countsFn{})
	register.Combiner1[fleet.Crashes](&crashesFn{})
	register.Combiner1[fleet.Totals](&totalsFn{})
	register.DoFn6x1[context.Context, []byte, func(*fleet.Module, *fleet.Counts) bool, func(*string, *fleet.Crashes) bool, func(*fleet.Totals) bool, func(*Damage) bool, error](&tablesFn{})
	register.Iter2[fleet.Module, fleet.Counts]()
	register.Iter2[string, fleet.Crashes]()
	register.Iter1[fleet.Totals]()
	register.Iter1[Damage]()
}

// build makes the pipeline:
//
//	shards -> Reshuffle -> Walk -> lines-*.jsonl, a file for each shard
//	                        |-> modules -> sum by module ------> Tables
//	                        |-> crashes -> sum by signature ---> (side inputs)
//	                        |-> totals  -> sum ---------------->
//	                        '-> damaged dumps, the dead letters ->
//
// Lines do not pass through the runner: some are megabytes long, and a shard's file has the same
// bytes whichever worker writes it, and however often.
func build(s beam.Scope, c Config, dir string, shards []Shard) {
	work := beam.Reshuffle(s, beam.CreateList(s, shards))
	modules, crashes, all, damaged := beam.ParDo4(s.Scope("Walk"), &walkFn{Config: c, Dir: dir}, work)
	counted := beam.CombinePerKey(s.Scope("Modules"), &countsFn{}, modules)
	signed := beam.CombinePerKey(s.Scope("Signatures"), &crashesFn{}, crashes)
	total := beam.Combine(s.Scope("Totals"), &totalsFn{}, all)
	beam.ParDo0(s.Scope("Tables"), &tablesFn{Dir: dir}, beam.Impulse(s),
		beam.SideInput{Input: counted}, beam.SideInput{Input: signed}, beam.SideInput{Input: total}, beam.SideInput{Input: damaged})
}

// The metrics. Runners count attempts: when a bundle is retried, its dumps are counted again. The
// numbers in summary.json are exact.
var (
	dumpsOK      = beam.NewCounter("symtool", "dumps_ok")
	dumpsDamaged = beam.NewCounter("symtool", "dumps_damaged")
	dumpsFailed  = beam.NewCounter("symtool", "dumps_failed")
	dumpMS       = beam.NewDistribution("symtool", "dump_ms")
)

// walkFn walks the dumps of a shard.
type walkFn struct {
	Config Config
	Dir    string // output folder

	shared *shared
	maker  *fleet.SignatureMaker
}

// Setup finds the symbols, which all bundles of the process share.
func (f *walkFn) Setup() (err error) {
	f.maker = fleet.NewSignatureMaker(fleet.DefaultRules())
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

// ProcessElement writes the shard's lines and emits their counts. If it is called again for a
// shard, it does the same again.
func (f *walkFn) ProcessElement(ctx context.Context, shard Shard, modules func(fleet.Module, fleet.Counts), crashes func(string, fleet.Crashes), all func(fleet.Totals), damaged func(Damage)) error {
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
				for m, counts := range fleet.ModulesOf(d.Walked, at) {
					modules(m, *counts)
				}
				crashes(fleet.CrashOf(d.Walked, at, f.maker))
			}
			t := fleet.TotalsOf(d.Walked)
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
// DoFn must use Beam's arguments in the goroutine that it is called in.
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
	for i := range open { // those after an error
		err = errors.Join(err, closeOne(i))
	}
	return err
}

// countsFn sums the counts of a module.
type countsFn struct{}

// CreateAccumulator returns the sum of no dumps.
func (*countsFn) CreateAccumulator() fleet.Counts { return fleet.Counts{} }

// AddInput adds the counts of a dump.
func (*countsFn) AddInput(a, c fleet.Counts) fleet.Counts { a.Add(c); return a }

// MergeAccumulators adds two sums.
func (*countsFn) MergeAccumulators(a, b fleet.Counts) fleet.Counts { a.Add(b); return a }

// ExtractOutput returns the sum itself.
func (*countsFn) ExtractOutput(a fleet.Counts) fleet.Counts { return a }

// crashesFn sums the counts of a signature.
type crashesFn struct{}

// CreateAccumulator returns the sum of no dumps.
func (*crashesFn) CreateAccumulator() fleet.Crashes { return fleet.Crashes{} }

// AddInput adds the counts of a dump.
func (*crashesFn) AddInput(a, c fleet.Crashes) fleet.Crashes { a.Add(c); return a }

// MergeAccumulators adds two sums.
func (*crashesFn) MergeAccumulators(a, b fleet.Crashes) fleet.Crashes { a.Add(b); return a }

// ExtractOutput returns the sum itself.
func (*crashesFn) ExtractOutput(a fleet.Crashes) fleet.Crashes { return a }

// totalsFn sums the counts of dumps.
type totalsFn struct{}

// CreateAccumulator returns the sum of no dumps.
func (*totalsFn) CreateAccumulator() fleet.Totals { return fleet.Totals{} }

// AddInput adds the totals of a dump.
func (*totalsFn) AddInput(a, t fleet.Totals) fleet.Totals { a.Add(t); return a }

// MergeAccumulators adds two sums.
func (*totalsFn) MergeAccumulators(a, b fleet.Totals) fleet.Totals { a.Add(b); return a }

// ExtractOutput returns the sum itself.
func (*totalsFn) ExtractOutput(a fleet.Totals) fleet.Totals { return a }

// tablesFn writes the tables. It is called once.
type tablesFn struct {
	Dir string
}

// ProcessElement writes the tables, and summary.json as the last of them.
func (f *tablesFn) ProcessElement(ctx context.Context, _ []byte, modules func(*fleet.Module, *fleet.Counts) bool, crashes func(*string, *fleet.Crashes) bool, all func(*fleet.Totals) bool, damaged func(*Damage) bool) error {
	r := &tables{}
	var m fleet.Module
	var counts fleet.Counts
	for modules(&m, &counts) {
		r.Modules = append(r.Modules, fleet.NewModuleRow(m, counts))
	}
	for t := (fleet.Totals{}); all(&t); {
		r.Totals.Add(t)
	}
	var name string
	var crash fleet.Crashes
	for crashes(&name, &crash) {
		r.Crashes = append(r.Crashes, fleet.NewCrashRow(name, crash, r.Totals.Read()))
	}
	for d := (Damage{}); damaged(&d); d = (Damage{}) {
		r.damaged = append(r.damaged, d)
	}
	return r.write(ctx, f.Dir)
}
