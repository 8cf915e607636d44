package symdiff

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// rewritings are ways to write a file differently with the same meaning.
var rewritings = []struct {
	name  string
	apply func(d *doc, rng *rand.Rand)
}{
	{"numbers of FILE and INLINE_ORIGIN", renumbered},
	{"lines in two", splitLines},
	{"order of rules", func(d *doc, _ *rand.Rand) { d.eachRules(turnRules) }},
	{"order of operands", func(d *doc, _ *rand.Rand) { d.eachRules(turnOperands) }},
	{"rows that repeat what is in force", repeatRows},
	{"STACK CFI INIT in two", splitBlocks},
}

// Another way to write a file is not a difference.
func TestRewritings(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	for n, path := range realFiles(t) {
		base := newDoc(t, testenv.SymbolFile(t, path))
		text := base.text(t)
		nothing := func(name string, other []byte) {
			t.Helper()
			r := compare(t, text, other, Options{})
			if got := listed(r); len(got) > 0 || len(r.New.Problems) > len(r.Old.Problems) {
				t.Errorf("%s: %s: %s %v", filepath.Base(path), name, difference(nil, got), r.New.Problems)
			}
		}
		for k, w := range rewritings {
			d := base.copy()
			w.apply(d, rand.New(rand.NewPCG(uint64(n), uint64(k))))
			nothing(w.name, d.text(t))
		}
		nothing("CRLF", bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")))
		nothing("each record twice", doubled(text))
		nothing("order of records", shuffled(base, text, rand.New(rand.NewPCG(uint64(n), 99))))
	}
}

// A compressed file is equal to its contents.
func TestCompressed(t *testing.T) {
	text := testenv.SymbolFile(t, realFiles(t)[0])
	dir := t.TempDir()
	var sources [2]*Source
	for i, data := range [...][]byte{text, testenv.Gzip(t, text)} {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if sources[i], err = OpenSource(path); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Compare(t.Context(), sources[0], sources[1], Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.Same() || sources[1].Compression != "gzip" || len(r.New.Funcs) == 0 {
		t.Error(listed(r), sources[1].Compression)
	}
}

func renumbered(d *doc, rng *rand.Rand) {
	files, origins := map[symfmt.FileID]symfmt.FileID{}, map[symfmt.OriginID]symfmt.OriginID{}
	for i, k := range rng.Perm(len(d.m.Files)) {
		id := d.m.Files[i].ID
		files[id], d.m.Files[i].ID = symfmt.FileID(3*k+5), symfmt.FileID(3*k+5)
	}
	for i, k := range rng.Perm(len(d.m.Origins)) {
		id := d.m.Origins[i].ID
		origins[id], d.m.Origins[i].ID = symfmt.OriginID(7*k+1), symfmt.OriginID(7*k+1)
	}
	for i := range d.funcs {
		f := &d.funcs[i]
		for k := range f.lines {
			f.lines[k].File = files[f.lines[k].File]
		}
		for k := range f.inlines {
			in := &f.inlines[k]
			if in.Origin = origins[in.Origin]; !in.NoFile {
				in.CallFile = files[in.CallFile]
			}
		}
	}
	for i, o := range d.m.Origins {
		if o.HasFile && o.File >= 0 {
			d.m.Origins[i].File = int64(files[symfmt.FileID(o.File)])
		}
	}
}

func splitLines(d *doc, _ *rand.Rand) {
	for i := range d.funcs {
		f := &d.funcs[i]
		var out []symfmt.Line
		for _, l := range f.lines {
			if l.Size > 1 {
				first := l
				first.Size /= 2
				out = append(out, first)
				l.RVA, l.Size = l.RVA+symfmt.RVA(first.Size), l.Size-first.Size
			}
			out = append(out, l)
		}
		f.lines = out
	}
}

func (d *doc) eachRules(change func(string) string) {
	for i := range d.blocks {
		b := &d.blocks[i]
		b.init = change(b.init)
		for k := range b.rows {
			b.rows[k].rules = change(b.rows[k].rules)
		}
	}
}

// splitRules returns the rules of a record, each with its name.
func splitRules(text string) (rules [][]string) {
	for _, word := range strings.Fields(text) {
		if strings.HasSuffix(word, ":") {
			rules = append(rules, nil)
		}
		rules[len(rules)-1] = append(rules[len(rules)-1], word)
	}
	return rules
}

func joinRules(rules [][]string) string {
	var out []string
	for _, r := range rules {
		out = append(out, strings.Join(r, " "))
	}
	return strings.Join(out, " ")
}

func turnRules(text string) string {
	rules := splitRules(text)
	slices.Reverse(rules)
	return joinRules(rules)
}

// turnOperands writes "a b +" as "b a +", and an offset of -8 as 8 with a minus.
func turnOperands(text string) string {
	rules := splitRules(text)
	for i, r := range rules {
		if len(r) < 4 || strings.Trim(r[3], "+-") != "" {
			continue
		}
		switch {
		case r[3] == "+" && strings.HasPrefix(r[2], "-"):
			r[2], r[3] = r[2][1:], "-"
		case r[3] == "+":
			r[1], r[2] = r[2], r[1]
		case r[3] == "-" && strings.Trim(r[2], "0123456789") == "":
			r[2], r[3] = "-"+r[2], "+"
		}
		rules[i] = r
	}
	return joinRules(rules)
}

// repeatRows adds after each row another one with the same content.
func repeatRows(d *doc, _ *rand.Rand) {
	for i := range d.blocks {
		b := &d.blocks[i]
		var out []docRow
		for k, r := range b.rows {
			out = append(out, r)
			next := b.rva + symfmt.RVA(b.size)
			if k+1 < len(b.rows) {
				next = b.rows[k+1].rva
			}
			if r.rva+1 < next {
				out = append(out, docRow{r.rva + 1, r.rules})
			}
		}
		b.rows = out
	}
}

// splitBlocks cuts blocks without rows.
func splitBlocks(d *doc, _ *rand.Rand) {
	if d.overlaps() {
		return
	}
	for i := range d.blocks {
		b := &d.blocks[i]
		if len(b.rows) > 0 || b.size < 2 {
			continue
		}
		half := b.size / 2
		d.blocks = append(d.blocks, docBlock{rva: b.rva + symfmt.RVA(half), size: b.size - half, init: b.init})
		d.blocks[i].size = half
	}
}

// doubled writes each record twice, except those that occur once in a file.
func doubled(text []byte) []byte {
	var out, again strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(line)
		if !strings.HasPrefix(line, "MODULE") {
			again.WriteString(line)
		}
	}
	return []byte(out.String() + again.String())
}

// shuffled changes the order of records that may stand anywhere.
func shuffled(d *doc, text []byte, rng *rand.Rand) []byte {
	const head, files, rest = 0, 1, 2
	var parts [3][][]string // blocks of records that stay together
	part := head
	for line := range strings.Lines(string(text)) {
		word, _, _ := strings.Cut(line, " ")
		switch {
		case word == "FILE" || word == "INLINE_ORIGIN":
			part = files
		case word == "FUNC" || word == "PUBLIC" || word == "STACK":
			part = rest
		}
		follows := word == "INLINE" || part == rest && word != "FUNC" && word != "PUBLIC" && word != "STACK" || strings.HasPrefix(line, "STACK CFI ") && !strings.HasPrefix(line, "STACK CFI INIT ")
		if n := len(parts[part]); follows && n > 0 {
			parts[part][n-1] = append(parts[part][n-1], line)
			continue
		}
		parts[part] = append(parts[part], []string{line})
	}
	rng.Shuffle(len(parts[files]), func(i, j int) { parts[files][i], parts[files][j] = parts[files][j], parts[files][i] })
	if !d.twins() {
		rng.Shuffle(len(parts[rest]), func(i, j int) { parts[rest][i], parts[rest][j] = parts[rest][j], parts[rest][i] })
	}
	for _, block := range parts[rest] {
		if strings.HasPrefix(block[0], "FUNC") {
			body := block[1:]
			rng.Shuffle(len(body), func(i, j int) { body[i], body[j] = body[j], body[i] })
		}
	}
	var out strings.Builder
	for _, part := range parts {
		for _, block := range part {
			for _, line := range block {
				out.WriteString(line)
			}
		}
	}
	return []byte(out.String())
}

// twins reports whether the order of records matters, because two INITs have the same place.
func (d *doc) twins() bool {
	seen := map[symfmt.Range]bool{}
	for _, b := range d.blocks {
		place := symfmt.Range{RVA: b.rva, Size: b.size}
		if seen[place] {
			return true
		}
		seen[place] = true
	}
	return false
}

// overlaps reports whether two INITs have code in common, if they are in order.
func (d *doc) overlaps() bool {
	for i := 1; i < len(d.blocks); i++ {
		if a, b := d.blocks[i-1], d.blocks[i]; a.rva+symfmt.RVA(a.size) > b.rva {
			return true
		}
	}
	return false
}
