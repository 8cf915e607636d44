package symserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The size of the cache also limits a single file: one whose index is larger is not used,
// and is reported once as too large, however often it is requested.
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
		t.Errorf("%d bytes are held, want at most %d", s.modules.used, limit)
	}
	if want := "the index is too large: over the limit of 204800 bytes of memory"; strings.Count(notes.String(), want) != 1 {
		t.Errorf("%s\nwant once: %s", notes, want)
	}
}

// Frames in many inlined functions, or in one with an extremely long name, do not make an answer
// grow without bound, and the answer reports what it lacks.
func TestAnswerIsBounded(t *testing.T) {
	const depth, frames = 200, 1000
	deep := &strings.Builder{}
	fmt.Fprintf(deep, "FILE 0 a.c\nINLINE_ORIGIN 0 %s\nFUNC 1000 10 0 f\n", strings.Repeat("g", 1000))
	for i := range depth {
		fmt.Fprintf(deep, "INLINE %d 1 0 0 1000 10\n", i)
	}
	for name, c := range map[string]struct {
		records string
		each    int // bytes of names in a frame
	}{
		"inlined functions": {deep.String(), depth * 1000},
		"a long name":       {"FUNC 1000 10 0 f" + strings.Repeat("g", 96<<10) + "\n", 96 << 10},
	} {
		dir := t.TempDir()
		keep(t, dir, "deep.so", "ABC0", ".sym", []byte("MODULE Linux x86_64 ABC0 deep.so\n"+c.records))
		s, notes := newServer(t, Config{Dirs: []string{dir}})
		request := []byte(`{"memoryMap": [["deep.so", "ABC0"]], "stacks": [[[0, 4096]` + strings.Repeat(", [0, 4096]", frames-1) + "]]}")
		const limit = textPerAnswer + textPerFrame*frames
		message := fmt.Sprintf("frames without an answer: the names of the answer to this request have at most %d bytes", limit)
		got := body(t, ask(t, s, http.MethodPost, "/symbolicate/v5", request))
		if n := strings.Count(got, `"function": "f`); n == 0 || n > limit/c.each || len(got) > limit+frames*100 {
			t.Errorf("%s: %d frames have names, in %d bytes", name, n, len(got))
		}
		errors := `"module_errors": {"deep.so/ABC0": [{"name": "AnswerTooLong", "message": "` + message + `"}]}`
		if !strings.HasSuffix(got, `"found_modules": {"deep.so/ABC0": true}, `+errors+"}]}\n") {
			t.Errorf("%s: %.300s", name, got[len(got)-300:])
		}
		got = body(t, ask(t, s, http.MethodPost, "/symbolicate/v4", request))
		if !strings.HasSuffix(got, `"knownModules": [true], `+errors+"}\n") {
			t.Errorf("%s: v4: %.300s", name, got[len(got)-300:])
		}
		if !strings.Contains(notes.String(), message) {
			t.Errorf("%s: %v", name, notes)
		}
	}
}
