package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"

	"github.com/symtool/symtool/internal/bin"
)

// findInputs returns the names of the dumps in operands and lists, each once, in byte order.
func findInputs(ctx context.Context, operands, lists []string, stdin io.Reader) ([]string, error) {
	var names []string
	for _, operand := range operands {
		found, err := expand(ctx, operand)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	for _, file := range lists {
		found, err := readList(ctx, file, stdin)
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// expand returns the names that an operand stands for. A folder stands for the files in it and its
// subfolders, except hidden ones; a pattern for the files that it matches; anything else for
// itself, even if it does not exist here, since a worker may have it.
func expand(ctx context.Context, operand string) ([]string, error) {
	if operand == "" {
		return nil, fmt.Errorf("a DUMP has an empty name")
	}
	pattern := strings.ContainsAny(operand, "*?[")
	if isRemote(operand) {
		if !pattern {
			return []string{operand}, nil
		}
		return matches(operand, func() ([]string, error) { return listRemote(ctx, operand) })
	}
	st, err := os.Stat(operand)
	switch {
	case err == nil && st.IsDir():
		return filesIn(operand)
	case err != nil && pattern:
		return matches(operand, func() ([]string, error) { return filepath.Glob(operand) })
	}
	return []string{operand}, nil
}

// matches returns the names that find finds, or an error if there are none.
func matches(pattern string, find func() ([]string, error)) ([]string, error) {
	names, err := find()
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("it matches nothing")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	return names, nil
}

func listRemote(ctx context.Context, pattern string) ([]string, error) {
	files, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	return files.List(ctx, pattern)
}

func filesIn(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch hidden := path != dir && strings.HasPrefix(d.Name(), "."); {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return filepath.SkipDir
		case !hidden && d.Type().IsRegular():
			names = append(names, path)
		}
		return nil
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s: no file in it", dir)
	}
	return names, err
}

// maxName is the maximum length of a name in a list. It is longer than operating systems allow.
const maxName = 64 << 10

// readList returns the lines of a file; "-" is standard input.
func readList(ctx context.Context, file string, stdin io.Reader) (names []string, err error) {
	in := stdin
	if file != "-" {
		f, err := openRead(ctx, file)
		if err != nil {
			return nil, fmt.Errorf("--list: %s: %w", file, bin.WithoutPath(err))
		}
		defer f.Close()
		in = f
	}
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxName)
	for s.Scan() {
		if name := strings.TrimSuffix(s.Text(), "\r"); name != "" {
			names = append(names, name)
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("--list: %s: line %d: %w", file, len(names)+1, err)
	}
	return names, nil
}
