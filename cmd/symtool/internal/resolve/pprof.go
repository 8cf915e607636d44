package resolve

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/suppliers"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/walk/dump"
)

// maxProfile is the maximum size in bytes of a profile, decompressed. Profiles of whole fleets have 100 MB.
const maxProfile = 1 << 30

// symbolizeProfile adds functions, lines and inlined functions to a profile, and writes it. Locations that already have
// functions are not changed.
func (r *addressResolver) symbolizeProfile(ctx context.Context, path string, stdin io.Reader, stdout io.Writer) error {
	p, err := readProfile(path, stdin)
	if err != nil {
		return &cli.StatusError{Status: cli.StatusInput, Err: err}
	}
	s := newProfileSymbols(r, p)
	for _, m := range s.mappings {
		if err := s.fill(ctx, m); err != nil {
			return err
		}
	}
	s.report(path)
	out, err := cli.CreateOutput(r.output, stdout)
	if err != nil {
		return cli.OutputError(r.output, err)
	}
	defer out.Abort()
	packed := gzip.NewWriter(out) // twice as fast as the compression of profile.Write
	if err := cmp.Or(p.WriteUncompressed(packed), packed.Close()); err != nil {
		return cli.OutputError(out.Name(), err)
	}
	return cli.OutputError(out.Name(), out.Commit())
}

// readProfile reads a profile, which may be compressed with gzip.
func readProfile(path string, stdin io.Reader) (*profile.Profile, error) {
	in := stdin
	if path == "-" {
		path = "standard input"
	} else {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, bin.WithoutPath(err))
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(bin.LimitReader(in, maxProfile))
	stored := len(data)
	if err == nil && isGzip(data) {
		data, err = inflate(data, min(maxProfile, freeProfile+maxGzipRatio*int64(stored)))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case isGzip(data):
		return nil, fmt.Errorf("%s: compressed twice", path)
	}
	if err := checkProfileCost(data, stored); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		return nil, fmt.Errorf("%s: not a profile of pprof: %w", path, err)
	}
	return p, nil
}

// inflate decompresses data, which may have at most limit bytes of contents. It reads data twice: a buffer that grows
// with the contents would take three times their size.
func inflate(data []byte, limit int64) ([]byte, error) {
	packed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	size, err := io.Copy(io.Discard, bin.LimitReader(packed, limit))
	if err != nil {
		return nil, err
	}
	if err := packed.Reset(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	contents := make([]byte, size)
	_, err = io.ReadFull(packed, contents)
	return contents, err
}

func isGzip(data []byte) bool { return bytes.HasPrefix(data, []byte{0x1f, 0x8b}) }

// profileSymbols adds the symbols of mappings to a profile.
type profileSymbols struct {
	r         *addressResolver
	profile   *profile.Profile
	mappings  []*profile.Mapping // those with locations without functions, in the order of the locations
	locations map[*profile.Mapping][]*profile.Location
	functions map[functionKey]*profile.Function
	lastID    uint64            // the highest id of a function
	images    map[uint64]uint64 // start of a mapping -> address of the first byte of its file; nil until needed

	wanted, found int // numbers of locations
}

type functionKey struct{ name, file string }

func newProfileSymbols(r *addressResolver, p *profile.Profile) *profileSymbols {
	s := &profileSymbols{
		r: r, profile: p, locations: make(map[*profile.Mapping][]*profile.Location), functions: make(map[functionKey]*profile.Function),
	}
	for _, f := range p.Function {
		s.functions[functionKey{f.Name, f.Filename}] = f
		s.lastID = max(s.lastID, f.ID)
	}
	for _, l := range p.Location {
		if len(l.Line) > 0 || l.Address == 0 {
			continue
		}
		if s.wanted++; l.Mapping == nil {
			continue
		}
		if s.locations[l.Mapping] == nil {
			s.mappings = append(s.mappings, l.Mapping)
		}
		s.locations[l.Mapping] = append(s.locations[l.Mapping], l)
	}
	return s
}

// fill looks up the locations in a mapping.
func (s *profileSymbols) fill(ctx context.Context, m *profile.Mapping) error {
	locations := s.locations[m]
	module := suppliers.ParseModule(m.File)
	if _, err := hex.DecodeString(m.BuildID); err == nil { // Go's own ids are not build-ids
		module.BuildID = strings.ToLower(m.BuildID)
	}
	symbols := s.r.symbols.Find(ctx, module)
	if symbols == nil {
		return ctx.Err()
	}
	place := s.placer(m, symbols)
	if place == nil {
		s.r.msgs.Warnf("symtool: %s: the profile has offsets in %s, and only the binary says where they are in memory: use --binaries", symbols.Identity().Path, m.File)
		return nil
	}
	var at []symfmt.RVA
	var of []*profile.Location
	for _, l := range locations {
		if rva, ok := place(l.Address); ok {
			at, of = append(at, rva), append(of, l)
		}
	}
	before := s.found
	for _, piece := range resolve.Order(ctx, symbols, at) {
		for _, i := range piece {
			s.lookUp(ctx, symbols, at[i], of[i])
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if s.found > before {
		m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames = true, true, true, true
	}
	if missed := len(locations) - (s.found - before); missed > 0 {
		s.r.msgs.Warnf("symtool: %s: no function at %d of %s", symbols.Identity().Path, missed, text.Count(len(locations), "location"))
	}
	return nil
}

// placer returns a function that returns the RVA of an address in a mapping, or nil if RVAs are unknown. Symbol files
// do not say where the bytes of the binary are in memory, so for them the profile must have the mapping of its first
// bytes.
func (s *profileSymbols) placer(m *profile.Mapping, symbols resolve.Symbols) func(addr uint64) (symfmt.RVA, bool) {
	if mapped, ok := symbols.(resolve.MappedSymbols); ok {
		return func(addr uint64) (symfmt.RVA, bool) { return mapped.AtOffset(addr - m.Start + m.Offset) }
	}
	start, ok := s.imageOf(m)
	if !ok {
		return nil
	}
	return func(addr uint64) (symfmt.RVA, bool) { return symfmt.RVA(addr - start), addr >= start }
}

// imageOf returns the address of a file's first byte in the image that a mapping belongs to. ok is false for a part of
// the file that is mapped again elsewhere, as by Node: it belongs to no image.
func (s *profileSymbols) imageOf(m *profile.Mapping) (start uint64, ok bool) {
	if s.images == nil {
		maps := make([]dump.Mapping, 0, len(s.profile.Mapping))
		for _, p := range s.profile.Mapping {
			maps = append(maps, dump.Mapping{Range: dump.Range{Addr: p.Start, Size: p.Limit - p.Start}, Path: p.File, Offset: p.Offset, Exec: true})
		}
		dump.SortMappings(maps)
		s.images = map[uint64]uint64{}
		for _, g := range dump.Images(maps) {
			for i := g.First; i <= g.Last && maps[g.First].Offset == 0; i++ {
				s.images[maps[i].Addr] = g.Addr
			}
		}
	}
	start, ok = s.images[m.Start]
	return start, ok
}

func (s *profileSymbols) lookUp(ctx context.Context, symbols resolve.Symbols, rva symfmt.RVA, l *profile.Location) {
	var at resolve.Location
	found, err := nearest(ctx, symbols, uint64(rva), &at)
	s.r.report(symbols, err)
	if !found {
		return
	}
	if s.r.noInline {
		at.Frames = withoutInlines(at.Frames)
	}
	s.found++
	l.IsFolded = at.Multiple
	for i := range at.Frames {
		l.Line = append(l.Line, profile.Line{Function: s.function(&at.Frames[i]), Line: int64(at.Frames[i].Line)})
	}
}

// function returns the function of a frame. The profile has each function once.
func (s *profileSymbols) function(f *resolve.Frame) *profile.Function {
	if known := s.functions[functionKey{f.Function, f.File}]; known != nil {
		return known
	}
	name, file := strings.Clone(f.Function), strings.Clone(f.File) // do not keep the symbols in memory
	s.lastID++
	added := &profile.Function{ID: s.lastID, Name: name, SystemName: name, Filename: file}
	s.profile.Function = append(s.profile.Function, added)
	s.functions[functionKey{name, file}] = added
	return added
}

// report prints the verdict, and sets the status.
func (s *profileSymbols) report(path string) {
	if s.found < s.wanted {
		s.r.status = max(s.r.status, cli.StatusFindings)
	}
	s.r.msgs.Printf("symtool: %s: functions for %d of %s, in %s", path, s.found, text.Count(s.wanted, "location"), text.Count(len(s.mappings), "mapping"))
}
