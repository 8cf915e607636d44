package symserver

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/symtool/symtool/resolve/store"
)

// MissingList is a list of modules whose symbols were requested but missing: NAME/ID, one per
// line, in the form that store.ReadWanted reads. Each is listed once.
type MissingList struct {
	mu    sync.Mutex
	w     io.Writer
	max   int
	known map[string]struct{}
	err   error // of the first write that failed
}

// NewMissingList returns a list that continues old; new modules are written to w, one per line.
// It stops at max modules, and drops names that would be read back as something else.
func NewMissingList(old io.Reader, w io.Writer, max int) (*MissingList, error) {
	l := &MissingList{w: w, max: max, known: map[string]struct{}{}}
	err := store.ReadWanted(old, func(m store.Place) error {
		if len(l.known) < max {
			l.known[m.Name+"/"+m.ID] = struct{}{}
		}
		return nil
	})
	return l, err
}

// Add adds a module. It returns the error of the first write that failed, once.
func (l *MissingList) Add(name, id string) error {
	line := name + "/" + strings.ToUpper(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[line]; known || len(l.known) >= l.max || l.err != nil || !readsAs(line, name) {
		return nil
	}
	l.known[line] = struct{}{}
	_, l.err = fmt.Fprintln(l.w, line)
	return l.err
}

// readsAs reports whether a line is read back as the name.
func readsAs(line, name string) (same bool) {
	err := store.ReadWanted(strings.NewReader(line), func(m store.Place) error {
		same = m.Name == name && line == name+"/"+m.ID
		return nil
	})
	return same && err == nil
}
