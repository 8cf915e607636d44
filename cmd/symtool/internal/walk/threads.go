package walk

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/fleet"
)

// threadID parses a value of --thread.
func threadID(text string) (uint32, error) {
	id, err := strconv.ParseUint(text, 0, 32)
	if err != nil {
		return 0, cli.Want("the id of a thread")
	}
	return uint32(id), nil
}

// nameOfStack returns the name of a thread, a goroutine or a coroutine for messages.
func nameOfStack(w *fleet.Walked, s *walk.Stack) string {
	if g := s.Goroutine; g != nil {
		return fmt.Sprintf("goroutine %d", g.ID)
	}
	if c := s.Coroutine; c != nil {
		return fmt.Sprintf("the coroutine at %#x", c.Addr)
	}
	return fmt.Sprintf("thread %d", w.Dump.Threads[s.Thread].ID)
}

// threadChoice returns a function that selects the threads of a dump to walk, or nil for all.
func (w *walkCall) threadChoice() func(*dump.Dump) []int {
	if len(w.threads) == 0 && !w.crashed {
		return nil
	}
	return func(d *dump.Dump) (places []int) {
		for i := range d.Threads {
			if slices.Contains(w.threads, d.Threads[i].ID) || w.crashed && i == d.RequestingThread() {
				places = append(places, i)
			}
		}
		return places
	}
}

// reportThreads reports the requested threads that the dump does not have.
func (p *walkPrinter) reportThreads(w *fleet.Walked) {
	for _, id := range p.threads {
		if !slices.ContainsFunc(w.Dump.Threads, func(t dump.Thread) bool { return t.ID == id }) {
			p.note(cli.StatusFindings)
			p.msgs.Printf("symtool: %s: no thread has the id %d", w.Path, id)
		}
	}
	if p.crashed && w.Dump.RequestingThread() < 0 {
		p.msgs.Printf("symtool: %s: no thread crashed or asked for the dump", w.Path)
	}
}
