package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file in an archive.
type file struct {
	name string
	data []byte
	mode int64
}

// packed returns a tar.gz archive of files, which it places in a folder.
func packed(folder string, files []file, date time.Time) ([]byte, error) {
	files = slices.Clone(files)
	for i := range files {
		files[i].name = folder + "/" + files[i].name
	}
	plain, err := tarOf(files, date)
	return gzipped(plain), err
}

// gzipped compresses data as gzip -9n does: the header has neither a name nor a date.
func gzipped(data []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	z.Write(data)                                         // a bytes.Buffer does not fail either
	z.Close()
	return b.Bytes()
}

// tarOf returns a tar archive of files and their folders, sorted by name, all with the same date and without owners.
// A name that ends in a slash stands for an empty folder.
func tarOf(files []file, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	files = slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(strings.TrimSuffix(f.name, "/")); dir != "."; dir = path.Dir(dir) {
			files = append(files, file{name: dir + "/", mode: 0o755})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	files = slices.CompactFunc(files, func(a, b file) bool { return a.name == b.name })
	for _, f := range files {
		head := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.data)), Mode: f.mode, ModTime: date, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(head); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}

// checksums writes SHA256SUMS, which sha256sum -c reads.
func checksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(text.String()), 0o644)
}
