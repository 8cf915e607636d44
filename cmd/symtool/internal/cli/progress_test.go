package cli

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

func TestProgressOfSeveralFiles(t *testing.T) {
	var screen testenv.Buffer
	p, stop := StartProgress(&screen, NewMessages(&screen), []int64{300, 100, 0}, 0)
	p.File(0)(50, 100)
	p.File(1)(1, 1)
	p.File(2)(5, 0) // unknown total
	testenv.Until(t, "the bar at 62 %", func() bool { return strings.Contains(screen.String(), " 62% ") })
	p.Finish(0)
	p.Finish(1)
	p.Finish(2)
	if got := p.sum(); got != p.total {
		t.Errorf("%d of %d at the end", got, p.total)
	}
	stop()
	if end := screen.String(); !cleared(end) {
		t.Errorf("the bar is left: %q", end)
	}
}

// TestProgressCount checks that the bar counts what is done.
func TestProgressCount(t *testing.T) {
	var screen testenv.Buffer
	p, stop := StartCount(&screen, NewMessages(&screen), 4, "dumps", 0)
	p.Finish(0)
	p.Finish(1)
	p.Finish(2)
	testenv.Until(t, "3 of 4", func() bool { return strings.Contains(screen.String(), "(3/4") })
	stop()
	if s := screen.String(); !strings.Contains(s, "dumps/") || !cleared(s) {
		t.Errorf("%q", s)
	}
}

// cleared reports whether nothing is left on the last line of the screen.
func cleared(screen string) bool {
	line := screen[strings.LastIndexByte(screen, '\n')+1:]
	parts := strings.Split(line, "\r")
	return strings.TrimSpace(parts[len(parts)-1]) == ""
}

func TestProgressMakesRoomForMessages(t *testing.T) {
	var screen testenv.Buffer
	msgs := NewMessages(&screen)
	p, stop := StartProgress(&screen, msgs, []int64{100}, 0)
	p.File(0)(1, 10)
	testenv.Until(t, "the bar", func() bool { return strings.Contains(screen.String(), "symtool") })
	msgs.Printf("a message")
	stop()
	before, _, ok := strings.Cut(screen.String(), "a message\n")
	if !ok || !cleared(before) {
		t.Errorf("before the message: %q", before)
	}
}

func TestNoProgressForShortWork(t *testing.T) {
	var screen testenv.Buffer
	p, stop := StartProgress(&screen, NewMessages(&screen), []int64{100}, time.Hour)
	p.Finish(0)
	stop()
	if screen.String() != "" {
		t.Errorf("printed %q", screen.String())
	}
}

// TestStandardOutputIsTerminal checks that output to a terminal is printable.
func TestStandardOutputIsTerminal(t *testing.T) {
	master, terminal := testenv.Terminal(t)
	if err := WriteText(terminal, "a\x1b[31mb\n"); err != nil {
		t.Fatal(err)
	}
	// The terminal may deliver the line in several pieces.
	got, err := bufio.NewReader(master).ReadString('\n')
	if want := `a\x1b[31mb` + "\r\n"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
