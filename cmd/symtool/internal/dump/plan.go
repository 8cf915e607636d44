package dump

import (
	"container/list"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/resolve/supplier"
)

// plan decides which files of folders and packages are dumped together: a binary with its debug file or PDB, and with
// the file that dwz made. It depends on the files and their order only.
type plan struct {
	builds      map[string]*build   // by MODULE's id
	supplements map[string]*build   // files that dwz may have made, by their ids
	users       map[string][]*build // of them, by their ids
	complete    []*build            // that became it and were not fetched
	order       []*build            // all, in the order of their first files
	held        list.List           // *part: members of packages that wait for others, in order
	bytes       int64               // of held
	memory      int64               // of bytes
	limit       int64               // of bytes; beyond, the oldest are read again in the end
}

// maxHeld is how many members of packages wait for their counterparts, each perhaps in a file.
var maxHeld = scratch.Files() / 2

// maxHeldMemory is how many bytes of these are in memory.
const maxHeldMemory = 128 << 20

// part is a file of a build.
type part struct {
	supplier.BinaryFile
	name string   // of the member, without folders; "" for a file
	pkg  int      // index of its package, if it is a member
	kept *content // nil if it is a file, or a member that must be read again
	held *list.Element
	size int64 // of the member; 0 for a file
}

// build is what describes one build of a binary: the binary itself, and a debug file.
type build struct {
	result        *dumpResult
	binary, debug *part
	queued, taken bool // about to be dumped; dumped
}

func newPlan(limit int64) *plan {
	return &plan{builds: map[string]*build{}, supplements: map[string]*build{}, users: map[string][]*build{}, limit: limit}
}

// left reports whether a file is not dumped: input of a linker without a build-id, what has no id and no code, and a
// binary for another CPU than the one asked for.
func left(f *supplier.BinaryFile, cpu string) bool {
	return f.Object && f.BuildID == "" && f.SupplementID == "" || f.ID == "" && !f.Code && f.SupplementID == "" || cpu != "" && f.CPU != "" && f.CPU != cpu
}

// add adds a file to its build, which it returns; a file that the build has no use for is released.
func (p *plan) add(f *part) *build {
	b := p.builds[f.ID]
	if b == nil || f.ID == "" {
		b = &build{result: newResult(f.Path, f.CPU)}
	}
	return p.addTo(b, f)
}

// addTo is like add, for a build that may be new.
func (p *plan) addTo(b *build, f *part) *build {
	if b.binary == nil && b.debug == nil && !b.taken {
		p.builds[f.ID] = b
		p.order = append(p.order, b)
	}
	var awaited []*build
	if f.SupplementID != "" && p.supplements[f.SupplementID] == nil {
		p.supplements[f.SupplementID] = b
		awaited = slices.Clone(p.users[f.SupplementID])
	}
	if f.Supplement != "" {
		p.users[f.Supplement] = append(p.users[f.Supplement], b)
	}
	if f.kept != nil {
		p.hold(f)
	}
	unused := b.add(f)
	if unused != nil {
		p.release(unused)
	}
	if unused == f {
		return b
	}
	b.describe()
	for _, other := range append(awaited, b) {
		if p.isComplete(other) {
			p.complete = append(p.complete, other)
			p.queue(other)
		}
	}
	return b
}

// add adds a file, and returns the one that is not used: of several binaries the first with debug information counts,
// of several debug files the first.
func (b *build) add(f *part) (unused *part) {
	switch {
	case b.queued || b.taken:
		return f
	case !f.Code && b.debug == nil:
		b.debug = f
		return nil
	case f.Code && (b.binary == nil || f.DWARF && !b.binary.DWARF):
		unused, b.binary = b.binary, f
		return unused
	}
	return f
}

// lacks reports whether a build has no file yet of the kind of f, and still wants one.
func (b *build) lacks(f *part) bool {
	if f.Code {
		return b.binary == nil && !b.queued
	}
	return b.debug == nil && !b.queued
}

// describe sets what the result says of the files.
func (b *build) describe() {
	r := b.result
	switch {
	case b.binary == nil:
		r.File, r.cpu = b.debug.Path, b.debug.CPU
		return
	case b.debug != nil && !b.binary.DWARF:
		r.debug = b.debug.Path
	}
	r.File, r.cpu = b.binary.Path, b.binary.CPU
}

// files returns the build's own files.
func (b *build) files() []*part {
	return slices.DeleteFunc([]*part{b.binary, b.debug}, func(f *part) bool { return f == nil })
}

// parts returns the files that are read to dump a build.
func (p *plan) parts(b *build) (all []*part) {
	for _, f := range b.files() {
		all = append(all, f)
		if s := p.supplements[f.Supplement]; s != nil && s != b && s.debug != nil {
			all = append(all, s.debug)
		}
	}
	return all
}

// isComplete reports whether no other file can add to a build.
func (p *plan) isComplete(b *build) bool {
	if b.queued || b.taken || b.binary == nil || !b.binary.DWARF && b.debug == nil {
		return false
	}
	return !slices.ContainsFunc(b.files(), func(f *part) bool { return f.Supplement != "" && p.supplements[f.Supplement] == nil })
}

// readable reports whether all parts are files, or members that are kept.
func (p *plan) readable(b *build) bool {
	return !slices.ContainsFunc(p.parts(b), func(f *part) bool { return f.size > 0 && f.kept == nil })
}

// take marks a build as one that is dumped now, and gives its result the members. They stay until done.
func (p *plan) take(b *build) *dumpResult {
	b.taken = true
	r := b.result
	r.build = b
	for _, f := range p.parts(b) {
		if f != b.binary && f != b.debug {
			r.supplement = f.Path
		}
		if f.kept == nil {
			continue
		}
		if r.members == nil {
			r.members = map[string]binfile.Member{}
		}
		r.members[f.Path] = binfile.Member{ReaderAt: f.kept.contents(), Bytes: f.size, Name: f.kept.name}
	}
	return r
}

// done releases the members of a build that was dumped. A file that dwz made stays for others.
func (p *plan) done(b *build) {
	for _, f := range b.files() {
		p.release(f)
	}
	b.binary, b.debug = nil, nil
}

// release gives up the contents of a member.
func (p *plan) release(f *part) {
	if f.kept == nil {
		return
	}
	p.unhold(f)
	f.kept.release()
	f.kept = nil
}

// queue takes the members of a build from those that wait.
func (p *plan) queue(b *build) {
	b.queued = true
	for _, f := range b.files() {
		p.unhold(f)
	}
}

// size returns how many bytes of members a build has.
func (b *build) size() (n int64) {
	for _, f := range b.files() {
		n += f.size
	}
	return n
}

// supplementary reports whether a build is a file that dwz made for others.
func (p *plan) supplementary(b *build) bool {
	return b.binary == nil && b.debug != nil && (b.debug.ID == "" || len(p.users[b.debug.SupplementID]) > 0)
}

// hold adds a member to those that wait.
func (p *plan) hold(f *part) {
	f.held = p.held.PushBack(f)
	p.bytes += f.size
	p.memory += int64(len(f.kept.memory))
}

// unhold takes a member from those that wait, if it is one.
func (p *plan) unhold(f *part) {
	if f.held == nil {
		return
	}
	p.held.Remove(f.held)
	f.held = nil
	p.bytes -= f.size
	p.memory -= int64(len(f.kept.memory))
}

// shrink gives up members, the oldest first, until those that wait are within the limits.
func (p *plan) shrink() {
	for p.held.Len() > maxHeld || p.bytes > p.limit || p.memory > maxHeldMemory {
		p.release(p.held.Front().Value.(*part))
	}
}

// rest returns the builds that remain in the end, in order: those without a counterpart, and those that must be read
// again. Files that dwz made are not builds of their own.
func (p *plan) rest() (all []*build) {
	for _, b := range p.order {
		if !b.taken && !p.supplementary(b) {
			all = append(all, b)
		}
	}
	return all
}
