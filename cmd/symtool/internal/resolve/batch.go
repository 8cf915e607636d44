package resolve

import (
	"context"
	"strconv"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// maxBatch is the maximum number of lines that wait for their answers. Whatever the addresses on them need of a large
// binary is read only once.
const maxBatch = 1 << 15

// maxUnanswered is the maximum number of waiting lines without symbols. Nothing is read for them, and each may name a
// module of its own.
const maxUnanswered = 1 << 12

// batch is a set of lines that were read together. They are answered in the order that costs least, and the answers are
// written in the order of the lines.
type batch struct {
	r     *addressResolver
	write answerWriter
	lines []asked
	none  int               // lines without symbols
	names map[string]string // the names in answers, each once
}

// asked is a line with a question.
type asked struct {
	*answer
	line int // the line's number
}

func newBatch(r *addressResolver, out *cli.Stdout) *batch {
	return &batch{r: r, write: r.format.answers(out, false), names: make(map[string]string)}
}

// add adds a line. text has no white space around it.
func (b *batch) add(text string, line int) {
	q, _ := parseQuestion(text)
	a := b.r.locate(q)
	if a.symbols == nil {
		b.none++
	}
	b.lines = append(b.lines, asked{answer: a, line: line})
}

func (b *batch) full() bool { return len(b.lines) >= maxBatch || b.none >= maxUnanswered }

// lookUp looks up all lines.
func (b *batch) lookUp(ctx context.Context) error {
	pieces := b.order(ctx)
	return par.Ordered(ctx, 0, len(pieces), func(ctx context.Context, _, k int) (none struct{}, _ error) {
		for _, i := range pieces[k] {
			if ctx.Err() != nil {
				break
			}
			b.lines[i].lookUp(ctx)
		}
		return none, ctx.Err()
	}, func(k int, _ struct{}) error {
		for _, i := range pieces[k] {
			b.detach(b.lines[i].at.Frames)
		}
		return nil
	})
}

// answer answers all lines, and removes them from the batch.
func (b *batch) answer(ctx context.Context, out *cli.Stdout) error {
	if err := b.lookUp(ctx); err != nil {
		return err
	}
	for _, a := range b.lines {
		b.r.finish(a.answer)
		if a.bad {
			b.r.status = max(b.r.status, cli.StatusInput)
			b.r.msgs.Printf("symtool: standard input:%d: %s is not an address", a.line, strconv.Quote(shorten(a.text)))
		}
		if err := b.write.answer(a.answer); err != nil {
			return cli.OutputError(out.Name(), err)
		}
	}
	clear(b.lines)
	b.lines, b.none = b.lines[:0], 0
	clear(b.names)
	return nil
}

// detach replaces names with copies that the answers share, so that an answer does not keep a unit in memory.
func (b *batch) detach(frames []resolve.Frame) {
	if len(b.lines) == 1 {
		return
	}
	for i := range frames {
		f := &frames[i]
		for _, name := range []*string{&f.Function, &f.File} {
			known, ok := b.names[*name]
			if !ok {
				known = strings.Clone(*name)
				b.names[known] = known
			}
			*name = known
		}
	}
}

// order returns the order in which lines are answered, as indexes: module by module, and within each in the order of
// resolve.Order.
func (b *batch) order(ctx context.Context) (pieces [][]int) {
	var modules []resolve.Symbols
	of := make(map[resolve.Symbols][]int)
	for i := range b.lines {
		s := b.lines[i].symbols
		if s == nil {
			continue // nothing to look up
		}
		if of[s] == nil {
			modules = append(modules, s)
		}
		of[s] = append(of[s], i)
	}
	for _, s := range modules {
		at := make([]symfmt.RVA, len(of[s]))
		for k, i := range of[s] {
			at[k] = symfmt.RVA(b.lines[i].rva)
		}
		for _, piece := range resolve.Order(ctx, s, at) {
			for k := range piece {
				piece[k] = of[s][piece[k]]
			}
			pieces = append(pieces, piece)
		}
	}
	return pieces
}
