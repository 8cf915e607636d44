package resolve

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// nested returns a FUNC with functions that are inlined into one another.
func nested(depth int) string {
	text := strings.Builder{}
	text.WriteString("MODULE Linux x86_64 ABC0 a\nFILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n")
	for i := range depth {
		fmt.Fprintf(&text, "INLINE %d 1 0 0 1000 10\n", i)
	}
	return text.String() + "FUNC 2000 10 0 other\n"
}

// An address in more nested inlined functions than compilers make is an error, and does
// not affect other addresses.
func TestDeepInlines(t *testing.T) {
	for _, depth := range []int{1, maxInlined, maxInlined + 1, 100_000} {
		r := openFile(t, writeFile(t, "x.sym", []byte(nested(depth))))
		var at Location
		_, err := r.Find(t.Context(), 0x1000, &at)
		if depth <= maxInlined {
			if err != nil || len(at.Frames) != depth+1 {
				t.Errorf("%d: %v, %d frames", depth, err, len(at.Frames))
			}
		} else if err == nil || !strings.Contains(err.Error(), "more than 256 functions are inlined into one another") {
			t.Errorf("%d: %v", depth, err)
		}
		if found, err := r.Find(t.Context(), 0x2000, &at); !found || err != nil || at.Frames[0].Function != "other" {
			t.Errorf("%d: %v, %v", depth, err, at)
		}
	}
}

// countingSource counts how often functions are read.
type countingSource struct {
	recordSource
	reads int
}

func (c *countingSource) function(p *functionParser, v span) (function, error) {
	c.reads++
	return c.recordSource.function(p, v)
}

// The text of an unusable function is read once, not for each address of a stack.
func TestRefusedOnce(t *testing.T) {
	r := openFile(t, writeFile(t, "x.sym", []byte(nested(maxInlined+1))))
	counted := &countingSource{recordSource: r.source}
	r.source = counted
	var at Location
	_, first := r.Find(t.Context(), 0x1000, &at)
	reads := counted.reads
	if first == nil || reads == 0 {
		t.Fatalf("error %v after %d reads", first, reads)
	}
	if _, again := r.Find(t.Context(), 0x1001, &at); again == nil || again.Error() != first.Error() || counted.reads != reads {
		t.Errorf("error %v and %d more reads, want %v and none", again, counted.reads-reads, first)
	}
}

// The text of a function and the index have limits that depend on the memory that a Resolver may
// hold.
func TestFunctionText(t *testing.T) {
	long := "MODULE Linux x86_64 ABC0 a\nFILE 0 a.c\nFUNC 1000 10 0 f\n" + strings.Repeat("1000 10 1 0\n", 2<<20/12) + "FUNC 2000 10 0 other\n2000 10 2 0\n"
	path := writeFile(t, "x.sym", []byte(long))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := OpenFile(t.Context(), f, FileOptions{MaxMemory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var at Location
	if _, err := r.Find(t.Context(), 0x1000, &at); err == nil || !strings.Contains(err.Error(), "bytes of lines and inlined functions, more than the limit of 1048576") {
		t.Error(err)
	}
	if found, err := r.Find(t.Context(), 0x2000, &at); !found || err != nil || at.Frames[0].Line != 2 {
		t.Errorf("%v, %v", err, at)
	}
	r = openFile(t, path)
	if found, err := r.Find(t.Context(), 0x1000, &at); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	many := writeFile(t, "y.sym", []byte("MODULE Linux x86_64 ABC0 a\n"+strings.Repeat("FUNC 1000 10 0 f\n", 100_000)))
	if f, err = os.Open(many); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(t.Context(), f, FileOptions{MaxMemory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "the index is too large: over the limit of 1048576 bytes") {
		t.Error(err)
	}
}
