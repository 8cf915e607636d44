package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/symtool/symtool/internal/text"
)

// messages is the error stream. Each message is one line; what would change
// the terminal or the reading order is escaped, because names in messages come
// from other people's files.
type messages struct {
	mu     sync.Mutex
	w      io.Writer
	before func() // clears the progress bar; nil without one
	level  logLevel
	debug  debugInfo
}

func newMessages(w io.Writer) *messages { return &messages{w: w, level: logWarn} }

// printf prints one line. A failure of the error stream cannot be reported anywhere.
func (m *messages) printf(format string, args ...any) {
	if m.level == logOff {
		return
	}
	_, _ = io.WriteString(m, printable(fmt.Sprintf(format, args...))+"\n")
}

// warnf is printf for messages that are not errors.
func (m *messages) warnf(format string, args ...any) {
	if m.level >= logWarn {
		m.printf(format, args...)
	}
}

// setLevel sets what is printed. It must be called before the work begins.
func (m *messages) setLevel(l logLevel) { m.level = l }

// Write passes bytes through unchanged.
func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		m.before()
	}
	return m.w.Write(p)
}

// exclusive calls f while nothing else is printed.
func (m *messages) exclusive(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// setBefore sets a function to call before anything is printed.
func (m *messages) setBefore(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// printable escapes what would act on a terminal.
func printable(s string) string { return text.Printable(s) }
