package main

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name string
	data []byte
	mode int64
}

// writeArchive writes a tar.gz with the files in a folder, sorted by name, with one date
// and without owners.
func writeArchive(w io.Writer, folder string, files []file, date time.Time) error {
	zip, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zip)
	files = slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.name); dir != "."; dir = path.Dir(dir) {
			files = append(files, file{name: dir + "/", mode: 0o755})
		}
	}
	files = append(files, file{name: "", mode: 0o755})
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	files = slices.CompactFunc(files, func(a, b file) bool { return a.name == b.name })
	for _, f := range files {
		head := &tar.Header{
			Typeflag: tar.TypeReg, Name: folder + "/" + f.name, Size: int64(len(f.data)), Mode: f.mode,
			ModTime: date, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(head.Name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zip.Close()
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
