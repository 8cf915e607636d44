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

// maxBatch is how many lines wait for their answers at most: what those of 20,000 addresses need of a
// large binary is then read once.
const maxBatch = 1 << 15

// maxUnanswered is how many lines without symbols wait at most: nothing is read for them, and each may name a module of
// its own.
const maxUnanswered = 1 << 12

// batch is lines that were read together. They are answered in the order that costs least, and
// the answers written in the order of the lines.
type batch struct {
	r     *addressResolver
	write answerWriter
	lines []asked
	none  int               // lines without symbols
	names map[string]string // in answers, each once
}

// asked is a line with a question.
type asked struct {
	*answer
	line int // its number
}

func newBatch(r *addressResolver, out *cli.Stdout) *batch {
	return &batch{r: r, write: r.format.answers(out, false), names: make(map[string]string)}
}

// add adds a line, which has no white space around it.
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
	pieces := b.order()
	return par.Ordered(ctx, 0, len(pieces), func(ctx context.Context, _, k int) (none struct{}, _ error) {
		for _, i := range pieces[k] {
			if ctx.Err() != nil {
				break
			}
			b.lines[i].lookUp()
		}
		return none, ctx.Err()
	}, func(k int, _ struct{}) error {
		for _, i := range pieces[k] {
			b.detach(b.lines[i].at.Frames)
		}
		return nil
	})
}

// answer answers all lines, and forgets them.
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

// detach replaces names by copies that answers share: what an answer has keeps no unit in memory.
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

// order returns the order in which lines are answered, as indexes: module by module, and in each as
// resolve.Order says.
func (b *batch) order() (pieces [][]int) {
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
		for _, piece := range resolve.Order(s, at) {
			for k := range piece {
				piece[k] = of[s][piece[k]]
			}
			pieces = append(pieces, piece)
		}
	}
	return pieces
}
