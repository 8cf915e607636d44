package walk

import (
	"testing"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/goroutine"
)

// A goroutine continues where the runtime saved it if its thread is on another stack. The scheduler's frames below the
// function that left the goroutine's stack are dropped.
func TestSavedElsewhere(t *testing.T) {
	saved := &dump.Context{}
	frame := func(sp uint64, name string) Frame {
		return Frame{SP: sp, Names: []resolve.Frame{{Function: name}}}
	}
	other := []Frame{frame(0x10, "sleep"), frame(0x20, "runtime.asmcgocall"), frame(0x30, "runtime.mstart")}
	for _, tt := range []struct {
		name   string
		g      *goroutine.Goroutine
		frames []Frame
		saved  *dump.Context
		kept   int
	}{
		{"a thread", nil, other, nil, 3},
		{"waiting", &goroutine.Goroutine{Thread: -1, Saved: saved}, other, nil, 3},
		{"on the stack of C", &goroutine.Goroutine{Saved: saved, Stack: dump.Range{Addr: 0x100, Size: 0x100}}, other, saved, 2},
		{"back from a signal", &goroutine.Goroutine{Saved: saved, Stack: dump.Range{Addr: 0x30, Size: 0x100}}, other, nil, 3},
		{"never saved", &goroutine.Goroutine{Stack: dump.Range{Addr: 0x100, Size: 0x100}}, other, nil, 3},
		{"in the scheduler", &goroutine.Goroutine{Saved: saved, Stack: dump.Range{Addr: 0x100, Size: 0x100}}, other[2:], saved, 1},
	} {
		s := &Stack{Frames: tt.frames}
		if got := s.savedElsewhere(tt.g); got != tt.saved || len(s.Frames) != tt.kept {
			t.Errorf("%s: saved %v with %d frames, want %v with %d", tt.name, got != nil, len(s.Frames), tt.saved != nil, tt.kept)
		}
	}
}
