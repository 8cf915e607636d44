package cli

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// The bar appears after work has taken this long, and is redrawn at this rate.
const (
	ProgressDelay = time.Second
	progressRate  = 100 * time.Millisecond
)

// Progress is a bar on the error stream for work on several files. A file counts either by its
// size in bytes, whatever unit its reader counts in, or as one.
type Progress struct {
	sizes []int64
	unit  string          // unit of the count, shown with its rate; "" for bytes, which are not shown
	done  []atomic.Uint64 // in units of 1/progressWhole
	total int64
}

// progressWhole is the value of a finished file.
const progressWhole = 1 << 16

// StartProgress shows the bar on w if the work takes longer than delay. sizes has the size of
// each file in bytes. stop removes the bar and waits until it is gone.
func StartProgress(w io.Writer, msgs *Messages, sizes []int64, delay time.Duration) (p *Progress, stop func()) {
	return start(w, msgs, sizes, "", delay)
}

// StartCount is like StartProgress for n files that count as one each. The bar shows how many
// files are done, and their rate.
func StartCount(w io.Writer, msgs *Messages, n int, unit string, delay time.Duration) (p *Progress, stop func()) {
	return start(w, msgs, make([]int64, n), unit, delay)
}

func start(w io.Writer, msgs *Messages, sizes []int64, unit string, delay time.Duration) (p *Progress, stop func()) {
	p = &Progress{sizes: sizes, unit: unit, done: make([]atomic.Uint64, len(sizes))}
	for i := range p.sizes {
		p.sizes[i] = max(p.sizes[i], 1)
		p.total += p.sizes[i]
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		p.draw(w, msgs, delay, quit)
	}()
	return p, func() {
		close(quit)
		<-ended
	}
}

// draw shows the bar until quit is closed. It holds the lock of msgs while it writes, and msgs
// clears the bar before it prints a line.
func (p *Progress) draw(w io.Writer, msgs *Messages, delay time.Duration, quit <-chan struct{}) {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("symtool"),
		progressbar.OptionSetWidth(30),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	}
	if p.unit != "" {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(p.unit))
	}
	bar := progressbar.NewOptions64(p.total, options...)
	bar.StartWithoutRender()
	select {
	case <-quit:
		return
	case <-time.After(delay):
	}
	clearBar := func() { _ = bar.Clear() }
	msgs.setBefore(clearBar)
	defer msgs.setBefore(nil)
	tick := time.NewTicker(progressRate)
	defer tick.Stop()
	for {
		msgs.Exclusive(func() { _ = bar.Set64(min(p.sum(), p.total-1)) })
		select {
		case <-quit:
			msgs.Exclusive(clearBar)
			return
		case <-tick.C:
		}
	}
}

func (p *Progress) sum() int64 {
	var sum float64
	for i := range p.done {
		sum += float64(p.sizes[i]) * float64(p.done[i].Load()) / progressWhole
	}
	return int64(sum)
}

// File returns the function that the reader of file i calls with its progress, perhaps from
// several goroutines. It returns nil if i is negative, for work that does not count as a file.
func (p *Progress) File(i int) func(done, total int64) {
	if p == nil || i < 0 {
		return nil
	}
	return func(done, total int64) {
		if total > 0 {
			p.done[i].Store(uint64(float64(done) / float64(total) * progressWhole))
		}
	}
}

// Finish counts file i as done.
func (p *Progress) Finish(i int) {
	if p != nil && i >= 0 {
		p.done[i].Store(progressWhole)
	}
}
