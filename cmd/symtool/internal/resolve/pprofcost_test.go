package resolve

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/symtool/symtool/internal/testenv"
)

// TestProfileRecords repeats the smallest record of each kind, compressed and not. A profile that is accepted takes
// memory in proportion to the file.
func TestProfileRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	for what, record := range map[string]string{
		"sample_type": "\x0a\x00", "sample": "\x12\x00", "location of a sample": "\x12\x02\x08\x01", "locations of a sample": "\x12\x09\x0a\x07\x01\x01\x01\x01\x01\x01\x01", "value": "\x12\x02\x10\x01",
		"label": "\x12\x02\x1a\x00", "labels": "\x12\x08\x1a\x00\x1a\x00\x1a\x00\x1a\x00", "mapping": "\x1a\x00", "location": "\x22\x00", "line": "\x22\x02\x22\x00", "lines": "\x22\x08\x22\x00\x22\x00\x22\x00\x22\x00",
		"function": "\x2a\x00", "string": "\x32\x00", "period_type": "\x5a\x00", "comment": "\x68\x01", "comments": "\x6a\x04\x01\x01\x01\x01",
	} {
		data := []byte(strings.Repeat(record, 4<<20/len(record)))
		for _, packed := range []bool{false, true} {
			file := data
			if packed {
				file = testenv.Gzip(t, data)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readProfile("-", bytes.NewReader(file))
			runtime.ReadMemStats(&after)
			// A growing list leaves garbage behind: up to four times its size is allocated.
			if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(4*(freeProfile+perProfileByte*len(data))); got > limit {
				t.Errorf("%s, packed %v: %d MB for a file of %d bytes, limit %d MB (%v)", what, packed, got>>20, len(file), limit>>20, err)
			}
			if packed && what == "sample" && (err == nil || !strings.Contains(err.Error(), "2097152 records would take 416 MB of memory; the limit for 4194304 bytes")) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

// TestProfileCost checks that profiles of real programs do not exceed the estimate.
func TestProfileCost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "n", Unit: "n"}}}
	for i := range 2000 {
		p.Location = append(p.Location, &profile.Location{ID: uint64(i + 1), Address: uint64(0x1000 + i)})
	}
	for i := range 100_000 {
		s := &profile.Sample{Value: []int64{int64(i)}, Label: map[string][]string{"thread": {"main"}, "request": {"r"}}}
		for j := range 5 {
			s.Location = append(s.Location, p.Location[(i*7+j*13)%2000])
		}
		p.Sample = append(p.Sample, s)
	}
	var plain, packed bytes.Buffer
	if err := p.WriteUncompressed(&plain); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(&packed); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{plain.Len(), packed.Len()} {
		cost, _ := costOf(plain.Bytes(), profileCosts)
		if err := checkProfileCost(plain.Bytes(), size); err != nil || cost < 2<<20 {
			t.Errorf("%d bytes, %d stored, cost %d: %v", plain.Len(), size, cost, err)
		}
	}
}
