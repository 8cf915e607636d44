package dump

import (
	"context"
	"fmt"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve/supplier"
)

// maxRescans is the maximum number of times that a package is read again for members that did not fit in the scratch
// space together with others. It keeps the time proportional to the input even if a package has all its binaries
// before all its debug files.
const maxRescans = 8

// rescan dumps the builds without a counterpart, and those whose members did not fit in the scratch space, for which
// it reads the packages again. A build with one member is dumped while that member is read, so that one pass serves
// all such builds. Of the other builds, a pass reads as many as fit.
func (d *dumper) rescan(ctx context.Context) error {
	rest := d.plan.rest()
	if err := d.dumpBuilds(ctx, rest); err != nil {
		return err
	}
	d.again = make([]int, len(d.archives))
	for {
		rest = slices.DeleteFunc(rest, func(b *build) bool { return b.taken })
		rest = slices.DeleteFunc(rest, d.giveUp)
		if len(rest) == 0 {
			return nil
		}
		if err := d.readAgain(ctx, d.plan.fitting(rest)); err != nil {
			return err
		}
	}
}

// giveUp reports a build as lost if one of its packages was read again too often. It returns whether the build was
// lost.
func (d *dumper) giveUp(b *build) bool {
	missing := d.plan.missing(b)
	if !slices.ContainsFunc(missing, func(f *part) bool { return d.again[f.pkg] >= maxRescans }) {
		return false
	}
	d.lose(b, fmt.Errorf("%s: needs a larger --scratch: it did not fit with its debug file and what is between them, and their packages were read %s again", b.result.File, text.Count(maxRescans, "time")))
	return true
}

// lose reports that a build is not dumped.
func (d *dumper) lose(b *build, err error) {
	b.taken = true
	d.plan.done(b)
	b.result.number = -1
	b.result.fail(&cli.StatusError{Status: cli.StatusInput, Err: err})
	d.results = append(d.results, b.result)
	d.report(b.result)
}

// pass holds what is read again at one time.
type pass struct {
	builds []*build
	wanted map[string][]*part // members, by their paths
	users  map[*part][]*build
}

// missing returns the members of a build that must be read again.
func (p *plan) missing(b *build) []*part {
	return slices.DeleteFunc(p.parts(b), func(f *part) bool { return f.size == 0 || f.kept != nil })
}

// fitting returns the next pass: the builds with one member and, in order, as many of the others as fit in the limits
// together, but at least one.
func (p *plan) fitting(builds []*build) *pass {
	again := &pass{wanted: map[string][]*part{}, users: map[*part][]*build{}}
	var bytes, memory int64
	members, full := 0, false
	for _, b := range builds {
		missing := p.missing(b)
		if len(p.parts(b)) > 1 {
			for _, f := range missing {
				if again.users[f] == nil {
					members++
					if bytes += f.size; f.size <= inMemory {
						memory += f.size
					}
				}
			}
			full = full || members > len(missing) && (bytes > p.limit || memory > maxHeldMemory || members > maxHeld)
			if full {
				continue
			}
		}
		again.builds = append(again.builds, b)
		for _, f := range missing {
			if again.users[f] == nil {
				again.wanted[f.Path] = append(again.wanted[f.Path], f)
			}
			again.users[f] = append(again.users[f], b)
		}
	}
	return again
}

// readAgain reads again the packages that have members of a pass, and dumps its builds.
func (d *dumper) readAgain(ctx context.Context, again *pass) error {
	packages := make([]bool, len(d.archives))
	for f := range again.users {
		packages[f.pkg] = true
	}
	for i, path := range d.archives {
		if !packages[i] {
			continue
		}
		d.again[i]++
		if err := d.scan(ctx, path, func(path string) bool { return again.wanted[path] != nil }, func(f found) error {
			return d.addAgain(ctx, i, f, again)
		}); err != nil {
			return err
		}
	}
	if err := d.dumpReady(ctx); err != nil {
		return err
	}
	for f := range again.users { // members that dwz made, for several builds
		d.plan.release(f)
	}
	for _, b := range again.builds {
		if !b.taken {
			d.lose(b, fmt.Errorf("%s: is not in its package any more, which was changed", b.result.File))
		}
	}
	return nil
}

// addAgain keeps a member that is read again, and dumps the builds that thereby have all their members.
func (d *dumper) addAgain(ctx context.Context, pkg int, f found, again *pass) error {
	var kept []*part
	for _, p := range again.wanted[f.files[0].Path] {
		same := func(b supplier.BinaryFile) bool { return b.ID == p.ID && b.CPU == p.CPU }
		if p.kept == nil && p.pkg == pkg && slices.ContainsFunc(f.files, same) { // a package may have two members of the same name
			p.kept = f.kept
			f.kept.refs++
			kept = append(kept, p)
		}
	}
	if f.kept.refs == 0 {
		f.drop()
	}
	for _, p := range kept {
		for _, b := range again.users[p] {
			if !b.taken && d.plan.readable(b) && !slices.Contains(d.ready, b) {
				d.ready = append(d.ready, b)
				d.waiting += b.size()
			}
		}
	}
	return d.dumpBatch(ctx)
}
