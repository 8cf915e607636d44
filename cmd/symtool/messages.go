package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// messages is the error stream. Each message is one line; what would change
// the terminal or the reading order is escaped, because names in messages come
// from other people's files.
type messages struct {
	mu     sync.Mutex
	w      io.Writer
	before func() // clears the progress bar; nil without one
}

func newMessages(w io.Writer) *messages { return &messages{w: w} }

// printf prints one line. A failure of the error stream has no place to be told.
func (m *messages) printf(format string, args ...any) {
	_, _ = io.WriteString(m, printable(fmt.Sprintf(format, args...))+"\n")
}

// Write passes bytes on as they are.
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

// setBefore sets what is to happen before anything is printed.
func (m *messages) setBefore(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before = f
}

// printable replaces control characters, the marks that change the direction
// of text, other invisible characters and bytes that are not UTF-8 by Go's
// escapes. Everything else stays, so backslashes in s stay too.
func printable(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

func isPrintable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}
