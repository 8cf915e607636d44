package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/symfmt"
)

// pageTables returns the rows of the tables of a class, cell by cell, as text.
func pageTables(page, class string) (rows [][]string) {
	table := regexp.MustCompile(`(?s)<table class="` + class + `[" ].*?</table>`)
	row := regexp.MustCompile(`(?s)<tr[^>]*>(.*?)</tr>`)
	cell := regexp.MustCompile(`(?s)<td[^>]*>(.*?)</td>`)
	for _, t := range table.FindAllString(page, -1) {
		for _, r := range row.FindAllStringSubmatch(t, -1) {
			var cells []string
			for _, c := range cell.FindAllStringSubmatch(r[1], -1) {
				cells = append(cells, textOf(c[1]))
			}
			if cells != nil {
				rows = append(rows, cells)
			}
		}
	}
	return rows
}

var pageTag = regexp.MustCompile(`<[^>]*>`)

func textOf(markup string) string { return html.UnescapeString(pageTag.ReplaceAllString(markup, "")) }

// pageTexts returns the texts that a regular expression finds.
func pageTexts(page, form string) (list []string) {
	for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(page, -1) {
		list = append(list, textOf(m[1]))
	}
	return list
}

// numberedFiles returns files with findings of many kinds, and real files.
func numberedFiles(t *testing.T) []string {
	list := []string{}
	for _, pattern := range []string{"../golden/dwarf2sym/*.sym", "../golden/input/*.sym", "testdata/*.sym"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, files...)
	}
	dir := t.TempDir()
	for i, text := range []string{
		mapModule + "FUNC 1000 100 0 " + hostileName + "\n1000 80 1 0\n1040 80 1 0\nFUNC 1000 100 0 again\nFUNC 1080 200 0 overlaps\nFUNC 5 0 0 e\nFUNC zz\nPUBLIC 7 0 p\n" +
			"STACK CFI INIT 1010 30 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" + strings.Repeat("garbage\n", 150),
		"MODULE windows x86 0123456789ABCDEF0123456789ABCDEF0 w.pdb\nFUNC 1000 20 4 w\nSTACK WIN 4 1000 20 3 0 4 0 0 0 1 $T0 .raSearch =\n",
		"",
	} {
		name := filepath.Join(dir, fmt.Sprintf("made%d.sym", i))
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		list = append(list, name)
	}
	return list
}

// The page and the JSON document have the same numbers.
func TestHTMLNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	compared := 0
	for _, file := range numberedFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, perRule := range []int{1, 0} {
			compared += compareNumbers(t, file, text, perRule)
		}
	}
	t.Logf("%d numbers and texts compared", compared)
}

func compareNumbers(t *testing.T, file string, text []byte, perRule int) (compared int) {
	m := &lint.Map{}
	r, err := lint.Run(context.Background(), symfmt.TextRecords(bytes.NewReader(text)), lint.Options{File: file, Map: m, MaxPerRule: perRule})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Coverage.ReadNames(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	results := &Results{Version: "test", Reports: []*finding.Report{r}}
	var page, document strings.Builder
	if err := WriteHTML(&page, results, map[*finding.Report]*lint.Map{r: m}); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&document, results); err != nil {
		t.Fatal(err)
	}
	var want struct{ Files []jsonFile }
	if err := json.Unmarshal([]byte(document.String()), &want); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want []string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s is %q in the page, %q in JSON", file, what, got, want)
		}
		compared += len(want)
	}
	f, p := want.Files[0], page.String()
	c := f.Coverage
	same("verdict", pageTexts(p, `(?s)<strong class="\w+">(.*?)</div>`), []string{string(c.Verdict) + strings.Join(c.Reasons, "")})
	same("shares", pageTexts(p, `<span class="dim">\((\d+ of \d+)\)`), shares(c))
	same("counts", pageTexts(p, `<p class="dim holds">(.*?)</p>`), []string{jsonHolds(&f)})
	same("severities", pageTexts(p, `<option value="(?:error|warning|note)">(.*?)</option>`), severities(&f))
	same("findings", joinRows(pageTables(p, "findings")), findings(&f))
	same("rules", pageTexts(p, `<summary>(.*?)</summary>`), ruleCounts(&f))
	unkept := 0
	for _, n := range f.Counts {
		unkept += n
	}
	if unkept -= len(f.Findings); unkept > 0 {
		same("not listed", pageTexts(p, `>(\d+) more were counted`), []string{fmt.Sprint(unkept)})
	}
	worst := pageTables(p, "worst")
	same("functions without CFI", worstRows(worst, 3, len(c.Worst)), jsonGaps(c.Worst))
	same("functions without lines", worstRows(worst, 4, len(c.WorstLines)), jsonGaps(c.WorstLines))
	return compared
}

func shares(c *coverage.Coverage) (list []string) {
	for _, s := range []coverage.Share{c.All.Share, c.Code, c.Entries, c.LineEnds.Share, c.Public, c.Lines, c.WithLines} {
		if s.Total > 0 {
			list = append(list, fmt.Sprintf("%d of %d", s.Covered, s.Total))
		}
	}
	return list
}

func jsonHolds(f *jsonFile) string {
	c := f.Coverage
	s := fmt.Sprintf("%s, %s, %s, %s, %s", text.Count(uint64(f.Bytes), "byte"), text.Count(uint64(f.Lines), "line"),
		text.Count(uint64(c.Functions), "FUNC record"), text.Count(uint64(c.Publics), "PUBLIC record"), text.Count(uint64(c.Blocks), "STACK CFI block"))
	if c.WinBlocks > 0 {
		s += ", " + text.Count(uint64(c.WinBlocks), "STACK WIN record")
	}
	return s
}

func severities(f *jsonFile) []string {
	if len(f.Findings) == 0 {
		return nil
	}
	s := f.Severities
	return []string{fmt.Sprintf("error (%d)", s.Error), fmt.Sprintf("warning (%d)", s.Warning), fmt.Sprintf("note (%d)", s.Note)}
}

func findings(f *jsonFile) (list []string) {
	for _, x := range f.Findings {
		place := ""
		if x.Line > 0 {
			place = fmt.Sprint(x.Line)
		}
		if x.Column > 0 && x.Line > 0 {
			place += fmt.Sprintf(":%d", x.Column)
		}
		list = append(list, strings.Join([]string{place, x.Rule, x.Severity, x.Message, strings.TrimPrefix(x.Address, "0x"), x.Function}, "|"))
	}
	return list
}

func ruleCounts(f *jsonFile) (list []string) {
	for _, id := range slices.Sorted(func(yield func(string) bool) {
		for id := range f.Counts {
			if !yield(id) {
				return
			}
		}
	}) {
		if n := f.Counts[id]; n > 0 {
			list = append(list, fmt.Sprintf("%s %s (%d)", id, lint.RuleByID(id).Title, n))
		}
	}
	return list
}

func joinRows(rows [][]string) (list []string) {
	for _, r := range rows {
		list = append(list, strings.Join(r, "|"))
	}
	return list
}

// worstRows returns the first rows of the table of functions, sorted by a column as a click
// does; equal rows are sorted by address and line.
func worstRows(rows [][]string, column, n int) (list []string) {
	number := func(s, form string) (v uint64) {
		fmt.Sscanf(s, form, &v)
		return v
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b []string) int {
		for _, key := range [][3]uint64{
			{number(b[column], "%d"), number(a[column], "%d")}, {number(a[1], "%x"), number(b[1], "%x")}, {number(a[5], "%d"), number(b[5], "%d")},
		} {
			if key[0] != key[1] {
				return map[bool]int{true: -1, false: 1}[key[0] < key[1]]
			}
		}
		return 0
	})
	for _, r := range rows[:min(n, len(rows))] {
		list = append(list, fmt.Sprintf("%s %s %s %d of %s", r[5], r[1], r[0], number(r[column], "%d"), r[2]))
	}
	return list
}

func jsonGaps(gaps []coverage.Gap) (list []string) {
	for _, g := range gaps {
		name, line := g.Name, fmt.Sprint(g.Line)
		switch g.Kind {
		case coverage.GapPublic:
			name = "PUBLIC " + name
		case coverage.GapCode:
			name, line = "without a name", ""
		}
		list = append(list, fmt.Sprintf("%s %s %s %d of %d", line, strings.TrimPrefix(g.Address, "0x"), name, g.Missing, g.Size))
	}
	return list
}

// The page of a large module is small, and a browser reads all of it.
func TestOracleHTMLLarge(t *testing.T) {
	testenv.Oracle(t)
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 large\nFILE 0 a.cc\n")
	const functions = 150000
	at := 0x1000
	for i := range functions {
		size := 16 + i*7919%640
		fmt.Fprintf(&b, "FUNC %x %x 0 std::vector<project::part%d::Type%x, std::allocator<project::part%d::Type%x>>::method%d(int, char const*)\n%x %x %d 0\n",
			at, size, i/300, i*31%4096, i/300, i*31%4096, i%17, at, size-i%11, i)
		fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", at, size-i%101/100)
		at += (size + 15) &^ 15
	}
	m, r := mapText(t, b.String())
	var out strings.Builder
	if err := WriteHTML(&out, &Results{Version: "test", Reports: []*finding.Report{r}}, map[*finding.Report]*lint.Map{r: m}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	t.Logf("%d functions, %d bytes of code, a page of %d bytes", functions, at-0x1000, len(page))
	if len(page) > 3<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	const script = `addEventListener("load", async () => {
  const map = await loadMap(document.querySelector("section.file"));
  const parts = [];
  for (let i = 0; i < 40; i++) { map.zoom(0.7, map.module.end * 0.6); map.draw(); parts.push(map.paths[0].getAttribute("d").length); }
  map.reset(); map.toGap(1); map.draw();
  const pre = document.createElement("pre");
  pre.id = "result"; pre.textContent = [map.module.functions, Math.max(...parts), map.q(".range").textContent].join(";");
  document.body.append(pre);
});`
	result := regexp.MustCompile(`<pre id="result">(\d+);(\d+);(.*?)</pre>`).FindStringSubmatch(testenv.DOM(t, withScript(t, page, "\n</script>", script)))
	if result == nil {
		t.Fatal("the map was not drawn")
	}
	if result[1] != fmt.Sprint(functions) || result[3] != "108f to 118f, 256 bytes" {
		t.Errorf("%s functions are named, the first gap is in %s", result[1], result[3])
	}
	t.Logf("a band is drawn with %s characters at most", result[2])
}
