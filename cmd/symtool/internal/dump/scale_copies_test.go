package dump_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sort"
	"strconv"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// copyRecords holds, for each copy of each seed, the number and the hash of its records in a symbol
// file, with addresses relative to the copy's start and without the numbers in the copy's own names.
type copyRecords struct {
	hashes map[copyID]uint64
	counts map[copyID]int
}

type copyID struct {
	seed int
	copy uint64
}

// find returns the copy that has code at rva, and the copy's start.
func (l *link) find(rva symfmt.RVA) (id copyID, start symfmt.RVA, ok bool) {
	addr := uint64(rva) + loadAddr
	i := sort.Search(len(l.seeds), func(i int) bool { return l.seeds[i].textBase > addr }) - 1
	if i < 0 {
		return id, 0, false
	}
	s := l.seeds[i]
	n := (addr - s.textBase) / s.textSize
	return copyID{i, n}, symfmt.RVA(s.textBase + n*s.textSize - loadAddr), n < uint64(s.count)
}

// readCopies reads a symbol file of l's program.
func (l *link) readCopies(t *testing.T, path string) copyRecords {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := symfmt.NewReader(f, symfmt.ReadOptions{})
	c := copyRecords{map[copyID]uint64{}, map[copyID]int{}}
	files, origins := map[symfmt.FileID]string{}, map[symfmt.OriginID]string{}
	var (
		at    copyID // the copy of the last FUNC, PUBLIC or STACK CFI INIT
		start symfmt.RVA
		text  []byte
	)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return c
		}
		if err != nil {
			t.Fatal(err)
		}
		text = fmt.Append(text[:0], rec.Kind, " ")
		switch rec.Kind {
		case symfmt.KindFile:
			files[symfmt.FileID(rec.ID)] = string(rec.Name)
			continue
		case symfmt.KindInlineOrigin:
			origins[symfmt.OriginID(rec.ID)] = string(rec.Name)
			continue
		case symfmt.KindFunc, symfmt.KindPublic, symfmt.KindCFIInit:
			var ok bool
			if at, start, ok = l.find(rec.RVA); !ok {
				t.Fatalf("%s: %v at %#x, outside of all copies", path, rec.Kind, rec.RVA)
			}
			fallthrough
		case symfmt.KindCFI:
			text = fmt.Append(text, rec.RVA-start, " ", rec.Size, rec.Multiple, string(rec.Name))
		case symfmt.KindLine:
			ln := &rec.Line
			text = strconv.AppendUint(text, uint64(ln.RVA-start), 16)
			text = strconv.AppendUint(append(text, ' '), ln.Size, 16)
			text = strconv.AppendUint(append(text, ' '), uint64(ln.Num), 10)
			text = append(append(text, ' '), files[ln.File]...)
		case symfmt.KindInline:
			in := &rec.Inline
			text = fmt.Append(text, in.Depth, " ", in.CallLine, files[in.CallFile], origins[in.Origin])
			for _, rng := range in.Ranges {
				text = fmt.Append(text, " ", rng.RVA-start, " ", rng.Size)
			}
		default:
			continue
		}
		own := fmt.Appendf(nil, "%0*d", nameDigits, l.seeds[at.seed].first+int(at.copy))
		h := fnv.New64a()
		h.Write(bytes.ReplaceAll(text, own, []byte("N")))
		c.hashes[at] = c.hashes[at]*0x9e3779b97f4a7c15 + h.Sum64()
		c.counts[at]++
	}
}

// compareCopies compares each copy in the large file with a copy in a small program that has each seed
// twice: the first copy with the first, which has what linkers keep once, and all others with the
// second.
func compareCopies(t *testing.T, large, small *link, largeText, smallText string) {
	got, want := large.readCopies(t, largeText), small.readCopies(t, smallText)
	copies, records, wrong := 0, 0, 0
	for i, s := range large.seeds {
		for n := range uint64(s.count) {
			at, ref := copyID{i, n}, copyID{i, min(n, 1)}
			copies, records = copies+1, records+got.counts[at]
			if want.counts[ref] == 0 {
				t.Fatalf("%s: the small program has no records of copy %d", s.path, ref.copy)
			}
			if got.hashes[at] == want.hashes[ref] && got.counts[at] == want.counts[ref] {
				continue
			}
			if wrong++; wrong <= 10 {
				t.Errorf("%s, copy %d: %d records, want the %d of the small program", s.path, n, got.counts[at], want.counts[ref])
			}
		}
	}
	t.Logf("%d records in %d copies, %d copies differ from those in a program of %d", records, copies, wrong, 2*len(small.seeds))
}
