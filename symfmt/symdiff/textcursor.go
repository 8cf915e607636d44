package symdiff

import (
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt"
)

// textCursor reads parts of one text.
type textCursor struct {
	o       *Outline
	rd      *symfmt.Reader // for bodies
	one     *symfmt.Reader // for single records
	origins map[symfmt.OriginID]string
	room    int64 // bytes that listings may still take
	base    bool  // list source files without their folders
}

func newTextCursor(o *Outline) *textCursor {
	opts := symfmt.ReadOptions{File: o.Source.Name, Tolerant: true, MaxProblems: 1, Plain: true}
	return &textCursor{o: o, room: listingRoom(o), rd: symfmt.NewReader(nil, opts), one: symfmt.NewReader(nil, opts), origins: map[symfmt.OriginID]string{}}
}

// head is how much is read for the first record of a piece: few names are longer.
const head = 1 << 10

// first reads the first record of a piece of the text.
func (s *textCursor) first(at, end int64) (*symfmt.Record, error) {
	for n := int64(head); ; n *= 16 {
		to := min(end, at+n)
		s.o.Source.reset(s.one, at, to)
		rec, err := s.one.Next()
		if to == end || err == nil { // otherwise the piece may end inside the record
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%s: no record at offset %d, where there was one before: the file has changed", s.o.Source.Name, at)
			}
			return rec, err
		}
	}
}

// source returns file:line of a function's first line, or "".
func (s *textCursor) source(f *funcEntry) (string, error) {
	if f.FirstLine == 0 {
		return "", nil
	}
	s.o.Source.reset(s.rd, f.At, f.end())
	for {
		rec, err := s.rd.Next()
		if errors.Is(err, io.EOF) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if rec.Kind != symfmt.KindLine || rec.Line.Num != f.FirstLine || rec.Line.Size == 0 {
			continue
		}
		if s.isFile(rec.Line.File, f.First) {
			return fmt.Sprintf("%s:%d", s.file(rec.Line.File), f.FirstLine), nil
		}
	}
}

// file returns the name of a FILE.
func (s *textCursor) file(id symfmt.FileID) string {
	if name, ok := s.o.Files.get(uint32(id)); ok {
		return name
	}
	return fmt.Sprintf("(FILE %d is not declared)", id)
}

// origin returns the name of an INLINE_ORIGIN.
func (s *textCursor) origin(id symfmt.OriginID, old bool) (string, error) {
	if name, ok := s.origins[id]; ok {
		return name, nil
	}
	at, ok := s.o.originAt.get(uint32(id))
	if !ok {
		return fmt.Sprintf("(INLINE_ORIGIN %d is not declared)", id), nil
	}
	rec, err := s.first(at, s.o.Source.size)
	if err != nil {
		return "", err
	}
	name := rec.Name
	if old {
		if _, rest, ok := rec.OldOrigin(); ok {
			name = rest
		}
	}
	if len(s.origins) >= maxOrigins {
		clear(s.origins)
	}
	s.origins[id] = string(name)
	return s.origins[id], nil
}

// maxOrigins is the number of origin names that are cached.
const maxOrigins = 1 << 14
