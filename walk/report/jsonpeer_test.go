package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// peerCase is a dump that rust-minidump walked, with the files of its test
// suite that have its output.
type peerCase struct {
	dump    string
	symbols bool
	json    string
	human   string
}

var peerCases = []peerCase{
	{"test.dmp", false, "json-pretty.txt", "human.txt"},
	{"test.dmp", true, "json-pretty-symbols.txt", "human-symbols.txt"},
	{"pipeline-inlines-macos-segv.dmp", true, "macos_inlines_json_pretty.txt", "macos_inlines_human.txt"},
}

func (c *peerCase) name() string { return strings.TrimSuffix(c.json, ".txt") }

// peerText returns a file of rust-minidump's test suite without its header.
func peerText(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", name))
	if err != nil {
		t.Fatal(err)
	}
	parts := bytes.SplitN(data, []byte("---\n"), 3)
	if len(parts) != 3 {
		t.Fatalf("%s has no header", name)
	}
	return parts[2]
}

// peerWalk walks the threads of a dump with the symbols that rust-minidump had.
func peerWalk(t *testing.T, c peerCase) *walk.Result {
	t.Helper()
	dir := testenv.Shared(t, "data", "minidumps", "rust-minidump")
	sources := &walk.SymbolSet{}
	if c.symbols {
		s, err := supplier.NewSymbols(filepath.Join(dir, "symbols"), nil)
		if err != nil {
			t.Fatal(err)
		}
		sources.Symbols = s
	}
	t.Cleanup(func() { sources.Close() })
	d := walktest.Opened(t, filepath.Join(dir, c.dump))
	r, err := walk.NewWalker(sources, walk.Config{}).Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// decoded returns a document as a consumer sees it.
func decoded(t *testing.T, doc *Document) map[string]any {
	t.Helper()
	var buf bytes.Buffer
	if err := doc.Write(&buf, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return peerParsed(t, buf.Bytes())
}

func peerParsed(t *testing.T, data []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// byBase sorts modules by address, as symtool does; the schema leaves the order open.
func byBase(v map[string]any) {
	list := v["modules"].([]any)
	slices.SortStableFunc(list, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["base_addr"].(string), b.(map[string]any)["base_addr"].(string))
	})
}

// peerDiff lists where two documents differ as "path: want X, got Y", without fields of our
// own.
func peerDiff(path string, want, got any) (diffs []string) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		keys := map[string]bool{}
		for k := range w {
			keys[k] = true
		}
		for k := range g {
			keys[k] = k != "symtool"
		}
		for k := range keys {
			wv, inWant := w[k]
			gv, inGot := g[k]
			switch {
			case !keys[k]:
			case inWant != inGot:
				diffs = append(diffs, fmt.Sprintf("%s.%s: in one only", path, k))
			default:
				diffs = append(diffs, peerDiff(path+"."+k, wv, gv)...)
			}
		}
		slices.Sort(diffs)
		return diffs
	case []any:
		g, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(w), len(g)) {
			switch at := fmt.Sprintf("%s[%d]", path, i); {
			case i >= len(w):
				diffs = append(diffs, fmt.Sprintf("%s: not in theirs, got %s", at, short(g[i])))
			case i >= len(g):
				diffs = append(diffs, fmt.Sprintf("%s: want %s, not in ours", at, short(w[i])))
			default:
				diffs = append(diffs, peerDiff(at, w[i], g[i])...)
			}
		}
		return diffs
	}
	if !reflect.DeepEqual(want, got) {
		diffs = append(diffs, fmt.Sprintf("%s: want %s, got %s", path, short(want), short(got)))
	}
	return diffs
}

func short(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// peerRule is a difference from rust-minidump's output that stays.
type peerRule struct {
	in    string // name of the case
	diff  *regexp.Regexp
	why   string
	count int
}

var peerRules = []peerRule{
	{"macos_inlines_json_pretty", regexp.MustCompile(`hread(s\[0\])?\.(frame_count: want 8, got 7|frames\[7\]: want .*"offset":"0x00007fff20329f3c".*"trust":"scan".* not in ours)$`),
		"rust-minidump finds the frame before again by a scan: the walk is at its end, with a saved frame pointer of 0", 4},
	{"macos_inlines_json_pretty", regexp.MustCompile(`^\.threads\[\d+\]\.thread_name: want "", got null$`),
		"a name that is empty is none", 10},
	{"macos_inlines_json_pretty", regexp.MustCompile(`^\.crash_info\.instruction: want "mov byte \[0x80000042\], 0x1", got "mov byte \[0xffffffff80000042\], 0x1"$`),
		"a displacement is sign-extended, as rust-minidump does, too, in the accesses to memory", 1},
}

// allowPeer reports the differences that no rule allows.
func allowPeer(t *testing.T, c peerCase, rules []peerRule, diffs []string) {
	t.Helper()
	counts := make([]int, len(rules))
	for _, d := range diffs {
		i := slices.IndexFunc(rules, func(r peerRule) bool { return r.in == c.name() && r.diff.MatchString(d) })
		if i < 0 {
			t.Errorf("%s", d)
			continue
		}
		counts[i]++
	}
	for i, r := range rules {
		if r.in == c.name() && counts[i] != r.count {
			t.Errorf("rule %q (%s) holds for %d differences, want %d", r.diff, r.why, counts[i], r.count)
		}
	}
}

// Documents equal rust-minidump's output in every key of every frame, thread and module,
// except for the rules above.
func TestPeerJSON(t *testing.T) {
	for _, c := range peerCases {
		t.Run(c.name(), func(t *testing.T) {
			want := peerParsed(t, peerText(t, c.json))
			got := decoded(t, NewDocument(peerWalk(t, c), DocumentOptions{}))
			byBase(want)
			allowPeer(t, c, peerRules, peerDiff("", want, got))
		})
	}
}
