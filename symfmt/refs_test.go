package symfmt

import (
	"runtime"
	"testing"
)

// Every record may use an undeclared number, so little may be kept for each until the end.
func TestPendingUses(t *testing.T) {
	const n = 100_000
	var u references
	rec := Record{Kind: KindInline, line: 3, text: []byte("INLINE 0 1 0 7 1000 10")}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for id := range uint32(n) {
		u.note(&rec, 4, id)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := int64(after.HeapAlloc-before.HeapAlloc) / n; len(u.pending) != n || each > 100 {
		t.Errorf("%d uses take %d bytes each, want %d of at most 100", len(u.pending), each, n)
	}
	runtime.KeepAlive(&u)
}
