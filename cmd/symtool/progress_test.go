package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symtool/symtool/internal/testenv"
)

// lockedBuffer is a bytes.Buffer for several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestProgressOfSeveralFiles(t *testing.T) {
	var screen lockedBuffer
	p, stop := startProgress(&screen, newMessages(&screen), []int64{300, 100, 0}, 0)
	p.file(0)(50, 100)
	p.file(1)(1, 1)
	p.file(2)(5, 0) // unknown total
	testenv.Until(t, "the bar at 62 %", func() bool { return strings.Contains(screen.String(), " 62% ") })
	p.finish(0)
	p.finish(1)
	p.finish(2)
	if got := p.sum(); got != p.total {
		t.Errorf("%d of %d when all is done", got, p.total)
	}
	stop()
	if end := screen.String(); !cleared(end) {
		t.Errorf("the bar is left: %q", end)
	}
}

// cleared reports whether nothing is left on the last line of the screen.
func cleared(screen string) bool {
	line := screen[strings.LastIndexByte(screen, '\n')+1:]
	parts := strings.Split(line, "\r")
	return strings.TrimSpace(parts[len(parts)-1]) == ""
}

func TestProgressMakesRoomForMessages(t *testing.T) {
	var screen lockedBuffer
	msgs := newMessages(&screen)
	p, stop := startProgress(&screen, msgs, []int64{100}, 0)
	p.file(0)(1, 10)
	testenv.Until(t, "the bar", func() bool { return strings.Contains(screen.String(), "symtool") })
	msgs.printf("a message")
	stop()
	before, _, ok := strings.Cut(screen.String(), "a message\n")
	if !ok || !cleared(before) {
		t.Errorf("before the message: %q", before)
	}
}

func TestNoProgressForShortWork(t *testing.T) {
	var screen lockedBuffer
	p, stop := startProgress(&screen, newMessages(&screen), []int64{100}, time.Hour)
	p.finish(0)
	stop()
	if screen.String() != "" {
		t.Errorf("printed %q", screen.String())
	}
}

// openTerminal returns both ends of a pseudo terminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	t.Cleanup(func() { terminal.Close() })
	return master, terminal
}

func TestTerminals(t *testing.T) {
	_, terminal := openTerminal(t)
	var other bytes.Buffer
	for _, c := range []struct {
		name           string
		stdout, stderr io.Writer
		cfg            dumpConfig
		want           bool
	}{
		{"to a file", &other, terminal, dumpConfig{output: "x"}, true},
		{"to a pipe", &other, terminal, dumpConfig{output: "-"}, true},
		{"to the terminal", terminal, terminal, dumpConfig{output: "-"}, false},
		{"no terminal", &other, &other, dumpConfig{output: "x"}, false},
		{"quiet", &other, terminal, dumpConfig{output: "x", quiet: true}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &dumper{dumpConfig: &c.cfg, stdout: c.stdout, msgs: newMessages(c.stderr)}
			stop := d.startProgress()
			defer stop()
			if got := d.progress != nil; got != c.want {
				t.Errorf("bar: %v, want %v", got, c.want)
			}
		})
	}
}

func TestNoGzipToTerminal(t *testing.T) {
	_, terminal := openTerminal(t)
	d := &dumper{dumpConfig: &dumpConfig{output: "-", gzip: true}, stdout: terminal, msgs: newMessages(terminal)}
	if err := d.openSingle(); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("error %v", err)
	}
}

// What goes to a terminal is printable.
func TestStandardOutputIsTerminal(t *testing.T) {
	master, terminal := openTerminal(t)
	if err := writeText(terminal, "a\x1b[31mb\n"); err != nil {
		t.Fatal(err)
	}
	// The terminal may hand over the line in several pieces.
	got, err := bufio.NewReader(master).ReadString('\n')
	if want := `a\x1b[31mb` + "\r\n"; got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
