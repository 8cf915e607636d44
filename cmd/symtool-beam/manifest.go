package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// inputsFile holds the names of the dumps, one per line, in order. A name with control
// characters is quoted as in Go.
const inputsFile = "inputs.txt"

// Shard is a unit of work: a range of dumps in inputsFile. The pipeline does not contain
// their names, because some runners limit its size.
type Shard struct {
	Index, Of     int   // position among all shards, from 0, and their number
	First, Count  int   // its first dump, from 0, and the number of its dumps
	Offset, Bytes int64 // its lines in inputsFile
}

// name returns the name of a file of the shard. Sorted by name, files are in the order of
// their shards.
func (s Shard) name(kind, ext string) string {
	return fmt.Sprintf("%s-%05d-of-%05d.%s", kind, s.Index, s.Of, ext)
}

// writeManifest writes inputsFile and returns the shards, each of up to size dumps.
func writeManifest(ctx context.Context, dir string, names []string, size int) ([]Shard, error) {
	of := (len(names) + size - 1) / size
	shards := make([]Shard, of)
	err := writeWhole(ctx, join(dir, inputsFile), func(w io.Writer) error {
		at := int64(0)
		for i, name := range names {
			s := &shards[i/size]
			if i%size == 0 {
				*s = Shard{Index: i / size, Of: of, First: i, Offset: at}
			}
			n, err := io.WriteString(w, quoteName(name)+"\n")
			if err != nil {
				return err
			}
			s.Count++
			s.Bytes += int64(n)
			at += int64(n)
		}
		return nil
	})
	return shards, err
}

func quoteName(name string) string {
	if strings.HasPrefix(name, `"`) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return strconv.Quote(name)
	}
	return name
}

// names reads the names of a shard's dumps.
func (s Shard) names(ctx context.Context, dir string) ([]string, error) {
	file := join(dir, inputsFile)
	in, err := openRead(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if err := skip(in, s.Offset); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	text := make([]byte, s.Bytes)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	names := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(names) != s.Count {
		return nil, fmt.Errorf("%s: %d names at byte %d, want %d: it was changed after the pipeline was made", file, len(names), s.Offset, s.Count)
	}
	for i, name := range names {
		if strings.HasPrefix(name, `"`) {
			if names[i], err = strconv.Unquote(name); err != nil {
				return nil, fmt.Errorf("%s: %q: %w", file, name, err)
			}
		}
	}
	return names, nil
}

// skip advances r to an offset, by seeking if the file system can.
func skip(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
