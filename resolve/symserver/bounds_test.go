package symserver

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The size of the cache holds for one file too: whose index is larger is not used, and
// said to be too large, however often it is asked for.
func TestCacheHoldsForOneFile(t *testing.T) {
	dir := t.TempDir()
	const limit = 200 << 10
	keep(t, dir, "small.so", "ABC0", ".sym", symbolText("small.so", "ABC0", 40<<10))
	keep(t, dir, "large.so", "ABC0", ".sym", symbolText("large.so", "ABC0", 4<<20))
	s, notes := newServer(t, Config{Dirs: []string{dir}, CacheSize: limit})
	for range 3 {
		request := `{"memoryMap": [["large.so", "ABC0"]], "stacks": [[[0, 4096]]]}`
		if got := body(t, ask(t, s, http.MethodPost, "/symbolicate/v5", []byte(request))); strings.Contains(got, "f0") {
			t.Errorf("large.so: %s", got)
		}
		if got := symbolicateAll(t, s, "small.so", "ABC0", []uint64{4096})[0]; got.Function == nil || *got.Function != "f0" {
			t.Errorf("small.so: %+v", got)
		}
	}
	if s.modules.used > limit {
		t.Errorf("%d bytes are held, of at most %d", s.modules.used, limit)
	}
	if want := "the index is too large: over the limit of 204800 bytes of memory"; strings.Count(notes.String(), want) != 1 {
		t.Errorf("%s\nwant once: %s", notes, want)
	}
}

// Frames that are in many inlined functions do not multiply an answer without bound.
func TestAnswerIsBounded(t *testing.T) {
	dir := t.TempDir()
	const depth, frames = 200, 1000
	var b bytes.Buffer
	fmt.Fprintf(&b, "MODULE Linux x86_64 ABC0 deep.so\nFILE 0 a.c\nINLINE_ORIGIN 0 %s\nFUNC 1000 10 0 f\n", strings.Repeat("g", 1000))
	for i := range depth {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 1000 10\n", i)
	}
	keep(t, dir, "deep.so", "ABC0", ".sym", b.Bytes())
	s, notes := newServer(t, Config{Dirs: []string{dir}, MaxFrames: frames})
	addrs := make([]uint64, frames)
	for i := range addrs {
		addrs[i] = 0x1000
	}
	request := &bytes.Buffer{}
	fmt.Fprint(request, `{"memoryMap": [["deep.so", "ABC0"]], "stacks": [[[0, 4096]`, strings.Repeat(", [0, 4096]", frames-1), "]]}")
	got := body(t, ask(t, s, http.MethodPost, "/symbolicate/v5", request.Bytes()))
	if n := strings.Count(got, `"function": "f"`); n == 0 || n > textPerFrame*frames/(depth*1000) || len(got) > 4*textPerFrame*frames {
		t.Errorf("%d frames have names, in %d bytes", n, len(got))
	}
	if !strings.Contains(notes.String(), "a request got no more names than") {
		t.Error(notes)
	}
}
