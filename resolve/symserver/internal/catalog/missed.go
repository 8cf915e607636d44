package catalog

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxMissed is the maximum number of modules in a list of missing ones: clients may ask for
// anything.
const maxMissed = 10_000

// Miss is a module whose symbols were requested but missing.
type Miss struct {
	Name, ID    string
	Count       int64
	First, Last time.Time
}

// Missed counts requests for symbols that the stores do not have. Its zero value is an empty list.
type Missed struct {
	mu  sync.Mutex
	all map[[2]string]*Miss
}

// Add counts a request.
func (l *Missed) Add(name, id string, now time.Time) {
	key := [2]string{name, strings.ToUpper(id)}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.all[key]
	if m == nil {
		if l.all == nil {
			l.all = map[[2]string]*Miss{}
		}
		if len(l.all) == maxMissed {
			l.drop()
		}
		m = &Miss{Name: strings.Clone(name), ID: key[1], First: now}
		l.all[[2]string{m.Name, m.ID}] = m
	}
	m.Count++
	m.Last = now
}

// samples is the number of modules that drop compares: the least requested one makes room for
// another.
const samples = 16

// drop removes the least requested of some random modules: Go iterates over a map from a random start.
func (l *Missed) drop() {
	var least *Miss
	n := 0
	for _, m := range l.all {
		if least == nil || cmp.Or(cmp.Compare(m.Count, least.Count), m.Last.Compare(least.Last)) < 0 {
			least = m
		}
		if n++; n == samples {
			break
		}
	}
	delete(l.all, [2]string{least.Name, least.ID})
}

// List returns the modules, the most requested first.
func (l *Missed) List() []Miss {
	l.mu.Lock()
	list := make([]Miss, 0, len(l.all))
	for _, m := range l.all {
		list = append(list, *m)
	}
	l.mu.Unlock()
	slices.SortFunc(list, func(a, b Miss) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Found forgets a module: its symbols were added.
func (l *Missed) Found(name, id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, [2]string{name, strings.ToUpper(id)})
}
