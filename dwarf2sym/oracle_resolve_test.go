package dwarf2sym_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// symtool resolve answers for the addresses of a comparison as llvm-symbolizer does, by the
// same rules as the symbol file, and gives the same answers from the symbol file, a store, a
// symbol server and the binary.
//
// There is one more rule: where there is no FUNC, the answer may be a PUBLIC. As llvm was run
// without symbol tables, the PUBLIC must be an ELF symbol, and llvm must have no function.
// TestOraclePublics compares those.

// source is a place from which symtool resolve reads symbols.
type source struct {
	name    string
	flags   []string
	damaged bool // part is lost, which is reported with status 3
}

// sourcesOf puts a symbol file where symtool resolve finds it. binaries are the files that it
// was made from.
func sourcesOf(t *testing.T, text []byte, binaries []string) (all []source) {
	t.Helper()
	dir := t.TempDir()
	first := text[:bytes.IndexByte(text, '\n')+1]
	rec, err := symfmt.NewReader(bytes.NewReader(first), symfmt.ReadOptions{}).Next()
	if err != nil || rec.Kind != symfmt.KindModule {
		t.Fatalf("%q: %v", first, err)
	}
	name, id := string(rec.Name), string(rec.DebugID)
	place, err := store.NewPlace(name, id)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "store")
	file := filepath.Join(folder, place.Path(".sym"))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	url := testenv.Serve(t, http.FileServer(http.Dir(folder)).ServeHTTP)
	module := "--module=" + name + "/" + id
	fromBinary := []string{module}
	for _, path := range binaries {
		fromBinary = append(fromBinary, "--binaries", path)
	}
	return []source{
		{name: "symbol file", flags: []string{"--symbols", file}},
		{name: "store", flags: []string{"--symbols", folder, module}},
		{name: "URL", flags: []string{"--symbol-url", url, "--symbol-cache", filepath.Join(dir, "cache"), module}},
		{name: "binary", flags: append(fromBinary, "--base=0")}, // the addresses are relative to the start of the module
	}
}

// resolved is an answer of symtool resolve --format json.
type resolved struct {
	Address, Record, Start string
	Found                  bool
	Frames                 []struct {
		Function, File string
		Line           int
	}
}

// compareResolved runs symtool resolve on the addresses of a comparison, with the symbol file
// and with the binaries that it was made from.
func compareResolved(t *testing.T, symtool string, text []byte, with *comparison, binaries ...string) {
	t.Helper()
	start := time.Now()
	sources := sourcesOf(t, text, binaries)
	for i := range sources {
		sources[i].damaged = with.damaged && sources[i].name == "binary"
	}
	c, wrong := resolveAll(t, symtool, sources, with)
	for _, text := range wrong {
		t.Error(text)
	}
	t.Logf("resolve: %d addresses from 4 sources, %d agree with llvm, %d are outside of functions and have a PUBLIC; %v",
		c.addresses, c.agree, c.publics, time.Since(start).Round(time.Millisecond))
	c.report(t)
	with.resolved, with.publics = c.addresses, c.publics
}

// resolveAll compares the answers from the first source with llvm's, and those
// from the other sources with the first's. It returns the differences in
// wrong.
func resolveAll(t *testing.T, symtool string, sources []source, with *comparison) (c *comparison, wrong []string) {
	t.Helper()
	copied := *with
	c = &copied
	c.frames, c.agree, c.unexplained = 0, 0, 0
	c.counts, c.kinds, c.examples = map[string]int{}, map[string]bool{}, nil
	var questions []byte
	for _, addr := range c.asked {
		questions = append(strconv.AppendUint(questions, addr-c.base, 16), '\n')
	}
	seed := maphash.MakeSeed()
	want := make([]uint64, len(c.asked)) // hash of each answer
	for k, s := range sources {
		differ, example := 0, ""
		answersFrom(t, symtool, s, questions, len(c.asked), func(i int, line []byte) {
			hash := maphash.Bytes(seed, line)
			if k == 0 {
				want[i] = hash
				ours, err := c.readAnswer(c.asked[i], line)
				c.at(c.asked[i], c.theirs[i], ours, err)
			} else if hash != want[i] {
				differ++
				example = string(line)
			}
		})
		if differ > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d of %d answers are not those from the %s, as %s", s.name, differ, len(c.asked), sources[0].name, example))
		}
	}
	return c, wrong
}

// answersFrom calls fn with each answer, a line without the name of the file that has the
// symbols.
func answersFrom(t *testing.T, symtool string, s source, questions []byte, n int, fn func(i int, line []byte)) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(symtool, append([]string{"resolve", "--format=json"}, s.flags...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(questions), &stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(pipe)
	in.Buffer(make([]byte, 1<<20), 64<<20)
	got := 0
	for ; in.Scan(); got++ {
		if line := in.Bytes(); got < n {
			fn(got, withoutSource(line))
		}
	}
	err = cmd.Wait()
	var status *exec.ExitError
	if errors.As(err, &status) && (status.ExitCode() == 1 || s.damaged && status.ExitCode() == 3) {
		err = nil // some addresses are not in any record
	}
	// Damage is reported when the damaged part is read, which does not include rules, for
	// example.
	if said := outside.ReplaceAll(stderr.Bytes(), nil); !s.damaged && len(said) > 0 {
		t.Errorf("%s: damaged is %v, but it says %q", s.name, s.damaged, said)
	}
	if err != nil || in.Err() != nil || got != n {
		t.Fatalf("%s: %d answers to %d questions; %v, %v\n%s", s.name, got, n, err, in.Err(), stderr.Bytes())
	}
}

// outside matches the hint for addresses outside the code, such as the ends of functions that
// the comparison looks up.
var outside = regexp.MustCompile(`(?m)^symtool: .*: [0-9a-f]+ is (?:not in its code|past its code, whose records end at [0-9a-f]+): for addresses of a process.*--base .*\n`)

var nearest = regexp.MustCompile(`"found":false,"record":"PUBLIC","start":"[^"]*",(?:"multiple":true,)?"nearest":".*?",`)

// withoutSource drops the field "symbols", whose text has no quote, and, if nothing was found,
// the nearest PUBLIC: a binary shows that it has ended, and a symbol file cannot.
func withoutSource(line []byte) []byte {
	line = nearest.ReplaceAll(line, []byte(`"found":false,`))
	const field = `"symbols":"`
	if i := bytes.Index(line, []byte(field)); i >= 0 {
		if end := bytes.Index(line[i+len(field):], []byte(`",`)); end >= 0 {
			return append(line[:i], line[i+len(field)+end+len(`",`):]...)
		}
	}
	return line
}

// readAnswer returns the frames of an answer, or none for a PUBLIC, which it checks.
func (c *comparison) readAnswer(addr uint64, line []byte) ([]frame, error) {
	var a resolved
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, err
	}
	if want := strconv.FormatUint(addr-c.base, 16); a.Address != want {
		return nil, fmt.Errorf("an answer for %s", a.Address)
	}
	if a.Found != (len(a.Frames) > 0) {
		return nil, fmt.Errorf("found is %v, with %d frames", a.Found, len(a.Frames))
	}
	if !a.Found {
		return nil, nil // the answer may name the nearest PUBLIC, which may have ended
	}
	var frames []frame
	for _, f := range a.Frames {
		frames = append(frames, frame{f.Function, f.File, f.Line})
	}
	if a.Record != "PUBLIC" {
		return frames, nil
	}
	start, err := strconv.ParseUint(strings.TrimPrefix(a.Start, "0x"), 16, 64)
	if err != nil || start > addr-c.base || !c.symbolAt(start, frames[0].name) {
		return nil, fmt.Errorf("PUBLIC %s at %s, where no ELF symbol has that name", frames[0].name, a.Start)
	}
	c.publics++
	return nil, nil
}

// The comparison finds an answer that is wrong in all sources, and a source whose answer
// differs from the others'.
func TestOracleResolveFindsDamage(t *testing.T) {
	testenv.Oracle(t)
	symtool := symtoolBinary(t)
	file := testenv.Input(t, "hotcold-gcc5.elf")
	text := dumpText(t, fixture{name: "hotcold-gcc5", file: file}, 1)
	c, err := compareText(t, text, subject{file: file})
	if err != nil {
		t.Fatal(err)
	}
	damaged := replaceFirst(t, text, `(?m)^([0-9a-f]+) ([0-9a-f]+) (\d+) (\d+)$`, "$1 $2 1${3} $4")
	good, bad := sourcesOf(t, text, []string{file}), sourcesOf(t, damaged, []string{file})
	for _, s := range []struct {
		name        string
		sources     []source
		llvm, wrong bool
	}{
		{"none", good, false, false},
		{"all symbol files", bad[:3], true, false},
		{"all but the binary", bad, true, true},
		{"store", []source{good[0], bad[1], good[2], good[3]}, false, true},
		{"URL", []source{good[0], good[1], bad[2], good[3]}, false, true},
	} {
		found, wrong := resolveAll(t, symtool, s.sources, c)
		if found.unexplained > 0 != s.llvm || len(wrong) > 0 != s.wrong {
			t.Errorf("%s: %d differences from llvm %q, sources that differ: %q", s.name, found.unexplained, found.examples, wrong)
		}
	}
}
