package dump

import (
	"container/list"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/resolve/supplier"
)

// plan decides which files in folders and packages are dumped together: a binary with its debug file or PDB, and with
// the file that dwz made. It depends only on the files and their order.
type plan struct {
	builds      map[string]*build   // by the ID in MODULE
	supplements map[string]*build   // files that dwz may have made, by their IDs
	users       map[string][]*build // builds that use such files, by the files' IDs
	complete    []*build            // builds that became complete and were not yet fetched
	order       []*build            // all, in the order of their first files
	held        list.List           // *part: members of packages that wait for their counterparts, in order
	bytes       int64               // total size of held
	memory      int64               // of these bytes, those in memory
	limit       int64               // maximum of bytes; beyond it, the oldest members are dropped and read again at the end
}

// maxHeld is the maximum number of members of packages that wait for their counterparts. Each may need an open file.
var maxHeld = scratch.Files() / 2

// maxHeldMemory is the maximum size in memory of the members that wait, in bytes.
const maxHeldMemory = 128 << 20

// part is a file of a build.
type part struct {
	supplier.BinaryFile
	name string   // of a member, without folders; "" for a file
	pkg  int      // index of its package, if it is a member
	kept *content // nil for a file, and for a member that must be read again
	held *list.Element
	size int64 // of a member; 0 for a file
}

// build holds the files of one build of a binary: the binary itself, and a debug file.
type build struct {
	result        *dumpResult
	binary, debug *part
	queued, taken bool // queued: about to be dumped; taken: dumped
}

func newPlan(limit int64) *plan {
	return &plan{builds: map[string]*build{}, supplements: map[string]*build{}, users: map[string][]*build{}, limit: limit}
}

// left reports whether a file is not dumped: a relocatable file without a build-id, a file without an ID and code, or
// a binary for a CPU other than the requested one.
func left(f *supplier.BinaryFile, cpu string) bool {
	return f.Object && f.BuildID == "" && f.SupplementID == "" || f.ID == "" && !f.Code && f.SupplementID == "" || cpu != "" && f.CPU != "" && f.CPU != cpu
}

// add adds a file to its build, and returns the build. If the build does not need the file, the file is released.
func (p *plan) add(f *part) *build {
	b := p.builds[f.ID]
	if b == nil || f.ID == "" {
		b = &build{result: newResult(f.Path, f.CPU)}
	}
	return p.addTo(b, f)
}

// addTo is like add, for the given build, which may be new.
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

// add adds a file to the build, and returns the file that is not used. Of several binaries, the first with debug
// information is used; of several debug files, the first.
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

// lacks reports whether a build still needs a file of the kind of f.
func (b *build) lacks(f *part) bool {
	if f.Code {
		return b.binary == nil && !b.queued
	}
	return b.debug == nil && !b.queued
}

// describe sets the fields of the result that describe the files.
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

// parts returns all files that are read to dump a build.
func (p *plan) parts(b *build) (all []*part) {
	for _, f := range b.files() {
		all = append(all, f)
		if s := p.supplements[f.Supplement]; s != nil && s != b && s.debug != nil {
			all = append(all, s.debug)
		}
	}
	return all
}

// isComplete reports whether the build needs no other file.
func (p *plan) isComplete(b *build) bool {
	if b.queued || b.taken || b.binary == nil || !b.binary.DWARF && b.debug == nil {
		return false
	}
	return !slices.ContainsFunc(b.files(), func(f *part) bool { return f.Supplement != "" && p.supplements[f.Supplement] == nil })
}

// readable reports whether all parts of a build can be read: they are files, or members that are still kept.
func (p *plan) readable(b *build) bool {
	return !slices.ContainsFunc(p.parts(b), func(f *part) bool { return f.size > 0 && f.kept == nil })
}

// take marks a build as being dumped, and gives its members to its result. The members stay open until done.
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

// done releases the members of a build that was dumped. A file that dwz made stays for other builds.
func (p *plan) done(b *build) {
	for _, f := range b.files() {
		p.release(f)
	}
	b.binary, b.debug = nil, nil
}

// release releases the contents of a member.
func (p *plan) release(f *part) {
	if f.kept == nil {
		return
	}
	p.unhold(f)
	f.kept.release()
	f.kept = nil
}

// queue removes the members of a build from those that wait.
func (p *plan) queue(b *build) {
	b.queued = true
	for _, f := range b.files() {
		p.unhold(f)
	}
}

// size returns the size of the build's members, in bytes.
func (b *build) size() (n int64) {
	for _, f := range b.files() {
		n += f.size
	}
	return n
}

// supplementary reports whether a build is a file that dwz made for other builds.
func (p *plan) supplementary(b *build) bool {
	return b.binary == nil && b.debug != nil && (b.debug.ID == "" || len(p.users[b.debug.SupplementID]) > 0)
}

// hold adds a member to the waiting ones.
func (p *plan) hold(f *part) {
	f.held = p.held.PushBack(f)
	p.bytes += f.size
	p.memory += int64(len(f.kept.memory))
}

// unhold removes a member from those that wait, if it is one of them.
func (p *plan) unhold(f *part) {
	if f.held == nil {
		return
	}
	p.held.Remove(f.held)
	f.held = nil
	p.bytes -= f.size
	p.memory -= int64(len(f.kept.memory))
}

// shrink releases members, the oldest first, until those that wait are within the limits.
func (p *plan) shrink() {
	for p.held.Len() > maxHeld || p.bytes > p.limit || p.memory > maxHeldMemory {
		p.release(p.held.Front().Value.(*part))
	}
}

// rest returns the builds that remain at the end, in order: those without a counterpart, and those whose members must
// be read again. Files that dwz made are not builds of their own.
func (p *plan) rest() (all []*build) {
	for _, b := range p.order {
		if !b.taken && !p.supplementary(b) {
			all = append(all, b)
		}
	}
	return all
}
