package cli

import (
	"fmt"
	"io"
	"sync"

	"github.com/symtool/symtool/internal/text"
)

// Messages is the error stream. Each message is one line; what would change
// the terminal or the reading order is escaped, because names in messages come
// from other people's files.
type Messages struct {
	mu     sync.Mutex
	W      io.Writer
	before func() // clears the progress bar; nil without one
	Level  logLevel
	debug  debugInfo
}

func NewMessages(w io.Writer) *Messages { return &Messages{W: w, Level: logWarn} }

// Printf prints one line. A failure of the error stream cannot be reported anywhere.
func (m *Messages) Printf(format string, args ...any) {
	if m.Level == logOff {
		return
	}
	_, _ = io.WriteString(m, Printable(fmt.Sprintf(format, args...))+"\n")
}

// Warnf is printf for messages that are not errors.
func (m *Messages) Warnf(format string, args ...any) {
	if m.Level >= logWarn {
		m.Printf(format, args...)
	}
}

// setLevel sets what is printed. It must be called before the work begins.
func (m *Messages) setLevel(l logLevel) { m.Level = l }

// Write passes bytes through unchanged.
func (m *Messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before()
	}
	return m.W.Write(p)
}

// Exclusive calls f while nothing else is printed.
func (m *Messages) Exclusive(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// setBefore sets a function to call before anything is printed.
func (m *Messages) setBefore(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// Printable escapes what would act on a terminal.
func Printable(s string) string { return text.Printable(s) }
