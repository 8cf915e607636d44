package resolve_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
)

// symbolized runs resolve --format pprof, and returns the profile that it wrote and its messages.
func symbolized(t *testing.T, wantStatus int, args ...string) (p *profile.Profile, messages string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.pb.gz")
	var errs bytes.Buffer
	args = append([]string{"symtool", "resolve", "--format", "pprof", "-o", out}, args...)
	if status := app.Run(t.Context(), args, nil, &errs, &errs); status != wantStatus {
		t.Fatalf("%q: status %d, want %d: %s", args, status, wantStatus, errs.String())
	}
	if wantStatus >= cli.StatusUsage {
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%q wrote a profile", args)
		}
		return nil, errs.String()
	}
	return readProfile(t, out), errs.String()
}

// TestResolveProfile checks that a profile gets functions, lines and inlined functions from binaries, by
// build-id, and, if it has the mapping of the file's first bytes, from symbol files. What it already had
// is not changed.
func TestResolveProfile(t *testing.T) {
	dir := t.TempDir()
	binary, in, sym := filepath.Join(dir, "prog"), filepath.Join(dir, "in.pb.gz"), filepath.Join(dir, "prog.sym")
	testenv.Copy(t, testenv.Input(t, "crashes/stacks"), binary)
	if status := app.Run(t.Context(), []string{"symtool", "dump", "-o", sym, binary}, nil, os.Stdout, os.Stderr); status != cli.StatusOK {
		t.Fatalf("dump: status %d", status)
	}
	p := profileOf(t, binary)
	gone := &profile.Mapping{ID: 2, Start: 0x7f0000000000, Limit: 0x7f0000001000, File: "/lib/libgone.so", BuildID: "0102030405060708090a0b0c0d0e0f1011121314"}
	known := &profile.Function{ID: 7, Name: "known"}
	first := p.Location[0]
	first.Line = []profile.Line{{Function: known, Line: 3}}
	p.Function, p.Mapping = []*profile.Function{known}, append(p.Mapping, gone)
	p.Location = append(p.Location, &profile.Location{ID: uint64(len(p.Location)) + 1, Mapping: gone, Address: gone.Start + 0x10})
	writeProfile(t, in, p)

	got, messages := symbolized(t, cli.StatusFindings, "--binaries", binary, in)
	frames := profileFrames(got)
	if want := "[known .:3]"; fmt.Sprint(frames[first.Address]) != want {
		t.Errorf("the location with a function has %q, want %s", frames[first.Address], want)
	}
	inlined := func(list []string) bool {
		return slices.Equal(list, []string{"middle /src/stacks.c:83", "crash /src/stacks.c:89"})
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(frames)), inlined) {
		t.Errorf("no location has the inlined function middle: %v", frames)
	}
	if m := got.Mapping[0]; !m.HasFunctions || !m.HasInlineFrames || got.Mapping[1].HasFunctions {
		t.Errorf("mappings are %v", got.Mapping)
	}
	for _, want := range []string{"no symbols of libgone.so with build-id 0102030405060708090a0b0c0d0e0f1011121314", "in.pb.gz: functions for "} {
		if !strings.Contains(messages, want) {
			t.Errorf("messages lack %q: %s", want, messages)
		}
	}

	_, messages = symbolized(t, cli.StatusFindings, "--symbols", sym, in)
	if want := "prog.sym: the profile has offsets in " + binary + ", and only the binary says"; !strings.Contains(messages, want) {
		t.Errorf("messages lack %q: %s", want, messages)
	}
	p.Mapping[0].Start -= p.Mapping[0].Offset
	p.Mapping[0].Offset = 0
	writeProfile(t, in, p)
	fromText, _ := symbolized(t, cli.StatusFindings, "--symbols", sym, in)
	if theirs := profileFrames(fromText); fmt.Sprint(theirs) != fmt.Sprint(frames) {
		t.Errorf("the symbol file gives %v, the binary %v", theirs, frames)
	}

	// The same code, mapped again from the middle of the file, as Node does. Its addresses cannot be
	// related to the start of the file.
	again := &profile.Mapping{ID: 3, Start: 0x7fffe0001000, Limit: 0x7fffe0002000, Offset: 0x1000, File: binary, BuildID: p.Mapping[0].BuildID}
	p.Mapping = append(p.Mapping, again)
	p.Location = append(p.Location, &profile.Location{ID: uint64(len(p.Location)) + 1, Mapping: again, Address: again.Start + 0x10})
	writeProfile(t, in, p)
	fromText, messages = symbolized(t, cli.StatusFindings, "--symbols", sym, in)
	if theirs := profileFrames(fromText); len(theirs[again.Start+0x10]) > 0 || !strings.Contains(messages, "only the binary says where they are") {
		t.Errorf("a second mapping has %v: %s", theirs[again.Start+0x10], messages)
	}
}

// TestResolveProfileRefuses checks that files that are not profiles, and flags that do not fit, are
// refused.
func TestResolveProfileRefuses(t *testing.T) {
	dir := t.TempDir()
	bad, sym := filepath.Join(dir, "bad"), testenv.Input(t, "gcc-dwarf5.elf")
	if err := os.WriteFile(bad, []byte("\x1f\x8bnot gzip"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		args   []string
		want   string
	}{
		{cli.StatusInput, []string{bad}, "bad: "},
		{cli.StatusInput, []string{sym}, "gcc-dwarf5.elf: not a profile of pprof: "},
		{cli.StatusInput, []string{filepath.Join(dir, "gone")}, "gone: no such file or directory"},
		{cli.StatusUsage, nil, "--format pprof takes one profile"},
		{cli.StatusUsage, []string{"--filter", bad}, "--format pprof and --filter exclude each other"},
	} {
		if _, messages := symbolized(t, c.status, append([]string{"--binaries", sym}, c.args...)...); !strings.Contains(messages, c.want) {
			t.Errorf("%q: %q, want %q", c.args, messages, c.want)
		}
	}
}

// profileOf returns a profile with addresses all over the code of a binary, as if it were mapped.
func profileOf(t testing.TB, binary string) *profile.Profile {
	t.Helper()
	f, err := objfile.Open(binary, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bias uint64
	if f.Kind != object.Executable {
		bias = 0x555555554000
	}
	code, ok := f.CodeOffset()
	if !ok {
		t.Fatal("no code")
	}
	ranges := f.ExecRanges()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}}
	offset := code
	for ; ; offset++ { // the first byte with code gives the distance for all of it
		if addr, ok := f.AddrOf(offset); ok && addr >= ranges[0].Start&^0xfff {
			m := &profile.Mapping{ID: 1, Start: addr + bias, Offset: offset, File: binary, BuildID: fmt.Sprintf("%x", f.BuildID())}
			m.Limit = ranges[len(ranges)-1].End + bias
			p.Mapping = append(p.Mapping, m)
			break
		}
	}
	for _, r := range ranges {
		for addr := r.Start; addr < r.End; addr += 3 {
			l := &profile.Location{ID: uint64(len(p.Location)) + 1, Mapping: p.Mapping[0], Address: addr + bias}
			p.Location = append(p.Location, l)
			p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1}})
		}
	}
	return p
}

func writeProfile(t testing.TB, path string, p *profile.Profile) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readProfile(t testing.TB, path string) *profile.Profile {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// profileFrames returns the functions at each address in a profile, by their names in the source.
func profileFrames(p *profile.Profile) map[uint64][]string {
	all := make(map[uint64][]string)
	for _, l := range p.Location {
		for _, line := range l.Line {
			file := filepath.Clean(line.Function.Filename)
			name := text.CutClone(line.Function.Name)
			if plain, err := demangle.Append(nil, name); err == nil {
				name, _, _ = strings.Cut(string(plain), " [clone")
			}
			all[l.Address] = append(all[l.Address], fmt.Sprintf("%s %s:%d", name, file, line.Line))
		}
	}
	return all
}
