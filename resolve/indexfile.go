package resolve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/symfmt"

	"github.com/symtool/symtool/internal/bin"
)

// An index file holds an index, so that a large symbol file opens at once, and
// many processes share one copy of the tables in memory.
//
// All numbers are little-endian, and all parts begin at a multiple of 8:
//
//	offset 0   magic, 8 bytes
//	       8   version, 4 bytes
//	      12   CRC-32C of everything after this, 4 bytes
//	      16   what the symbol file was, as in fingerprint: size 8, time 8, digest 32 bytes
//	      64   size of the text 8, flags 4 (1: OldInlines), number of parts 4
//	      80   for each part: offset 8, length 8
//	           the parts: strings, then the tables in the order of Index.tables
//
// Strings end in NUL: the fields of MODULE, then two for each problem.
//
// An index that is damaged, of another version, or of another symbol file is built again.
// Compressed symbol files have none: reading one decompresses its text anyway, which takes longer
// than building the index.
const (
	indexMagic   = "symtoolX"
	indexVersion = 5
	indexCRC     = 12
	indexParts   = 80
	maxIndex     = 1 << 36 // far more than the index of any symbol file
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint distinguishes one symbol file, and one version of its contents, from others: its size,
// the time of its last change, and a digest of parts of its text. The time alone is not enough:
// tools that copy files keep it, and a file may be written twice within one tick of the clock.
// The parts are the start, with MODULE and so the build's id, the end, and evenly spread samples,
// as almost any difference between two files shifts the text after it. Reading everything would
// take longer than building the index; a difference that the samples miss is found when a record
// is not where the index says.
type fingerprint struct {
	size, time int64
	digest     [sha256.Size]byte
}

// The parts included in the digest, in bytes.
const (
	sampleEnds = 16 << 10 // bytes at the beginning and at the end
	samples    = 32
	sampleSize = 1 << 10
)

func identify(f *os.File) (id fingerprint, err error) {
	st, err := f.Stat()
	if err != nil {
		return id, err
	}
	id.size, id.time = st.Size(), st.ModTime().UnixNano()
	h := sha256.New()
	sample := func(off, n int64) error {
		_, err := io.Copy(h, io.NewSectionReader(f, max(0, off), n))
		return err
	}
	err = errors.Join(sample(0, sampleEnds), sample(id.size-sampleEnds, sampleEnds))
	for i := int64(1); i < samples && err == nil; i++ {
		err = sample(id.size/samples*i, sampleSize)
	}
	h.Sum(id.digest[:0])
	return id, err
}

// encodeIndex returns an index file.
func encodeIndex(x *index, problems []symfmt.Problem, id fingerprint) []byte {
	le := binary.LittleEndian
	text := []string{x.OS, x.Arch, x.ID, x.Name}
	for _, p := range problems {
		text = append(text, p.Err.Error(), p.Lost)
	}
	for i, s := range text {
		text[i] = strings.ReplaceAll(s, "\x00", " ") + "\x00"
	}
	parts := [][]byte{[]byte(strings.Join(text, ""))}
	for _, t := range x.tables() {
		parts = append(parts, t.data)
	}

	size := indexParts + 16*len(parts)
	for _, p := range parts {
		size += padded(len(p))
	}
	out := append(make([]byte, 0, size), indexMagic+"\x00\x00\x00\x00\x00\x00\x00\x00"...)
	le.PutUint32(out[8:], indexVersion)
	out = le.AppendUint64(le.AppendUint64(out, uint64(id.size)), uint64(id.time))
	out = append(out, id.digest[:]...)
	flags := uint32(0)
	if x.OldInlines {
		flags = 1
	}
	out = le.AppendUint32(le.AppendUint32(le.AppendUint64(out, x.size), flags), uint32(len(parts)))
	place := indexParts + 16*len(parts)
	for _, p := range parts {
		out = le.AppendUint64(le.AppendUint64(out, uint64(place)), uint64(len(p)))
		place += padded(len(p))
	}
	for _, p := range parts {
		out = append(out, p...)
		out = append(out, make([]byte, padded(len(p))-len(p))...)
	}
	seal(out)
	return out
}

// padded rounds the length of a part up to the start of the next one.
func padded(n int) int { return (n + 7) &^ 7 }

// seal sets the checksum of an index file.
func seal(data []byte) {
	if len(data) >= indexCRC+4 {
		binary.LittleEndian.PutUint32(data[indexCRC:], crc32.Checksum(data[indexCRC+4:], castagnoli))
	}
}

// decodeIndex decodes the index in data for the symbol file id. The tables are
// not copied.
func decodeIndex(data []byte, id fingerprint) (*index, []symfmt.Problem, error) {
	le := binary.LittleEndian
	x := newIndex()
	tables := x.tables()
	switch {
	case len(data) < indexParts+16*(1+len(tables)) || string(data[:8]) != indexMagic:
		return nil, nil, errors.New("not an index")
	case le.Uint32(data[8:]) != indexVersion:
		return nil, nil, fmt.Errorf("version %d, want %d", le.Uint32(data[8:]), indexVersion)
	case int64(le.Uint64(data[16:])) != id.size || int64(le.Uint64(data[24:])) != id.time || !bytes.Equal(data[32:64], id.digest[:]):
		return nil, nil, errors.New("the index of another symbol file")
	case le.Uint32(data[indexCRC:]) != crc32.Checksum(data[indexCRC+4:], castagnoli):
		return nil, nil, errors.New("wrong checksum")
	case int(le.Uint32(data[76:])) != 1+len(tables):
		return nil, nil, fmt.Errorf("%d parts, want %d", le.Uint32(data[76:]), 1+len(tables))
	}
	x.size, x.OldInlines = le.Uint64(data[64:]), le.Uint32(data[72:]) == 1
	if x.size != uint64(id.size) {
		return nil, nil, fmt.Errorf("text of %d bytes, want %d", x.size, id.size)
	}
	var texts []byte
	for i := range 1 + len(tables) {
		at, n := le.Uint64(data[indexParts+16*i:]), le.Uint64(data[indexParts+16*i+8:])
		if at > uint64(len(data)) || n > uint64(len(data))-at {
			return nil, nil, fmt.Errorf("part %d extends past the end of the file", i)
		}
		if part := data[at:][:n:n]; i == 0 {
			texts = part
		} else if t := tables[i-1]; int(n)%t.size != 0 {
			return nil, nil, fmt.Errorf("part %d has %d bytes", i, n)
		} else {
			t.data = part
		}
	}
	problems, err := x.takeTexts(texts)
	if err == nil {
		err = x.check()
	}
	return x, problems, err
}

// takeTexts reads the strings of an index file.
func (x *index) takeTexts(text []byte) (problems []symfmt.Problem, err error) {
	all := strings.Split(string(text), "\x00")
	if len(all)%2 != 1 || len(all) < 5 || len(all) > 5+2*maxProblems {
		return nil, errors.New("malformed strings")
	}
	x.OS, x.Arch, x.ID, x.Name = all[0], all[1], all[2], all[3]
	for all = all[4:]; len(all) > 1; all = all[2:] {
		problems = append(problems, symfmt.Problem{Err: errors.New(all[0]), Lost: all[1]})
	}
	return problems, nil
}

// check checks tables that were read from a file. As a wrong table with the right checksum does
// not occur by accident, it is enough that no search leaves the tables.
func (x *index) check() error {
	for _, s := range []*spans{&x.funcs, &x.blocks, &x.wins, &x.fpos} {
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// openIndexedPath opens a symbol file through its index file, as OpenOptions.Index says. unwritten is
// why a new index could not be written.
func openIndexedPath(ctx context.Context, path, folder string) (r *Resolver, unwritten, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if r == nil || r.text() != text(f) {
			f.Close()
		}
	}()
	at, err := indexPath(path, folder)
	if err != nil {
		return nil, nil, err
	}
	id, err := identify(f)
	if err != nil {
		return nil, nil, err
	}
	if r := openThrough(path, at, f, id); r != nil {
		return r, nil, nil
	}
	x, t, problems, err := openText(ctx, f, path)
	if err != nil {
		return nil, nil, err
	}
	if t == text(f) {
		unwritten = writeIndex(at, encodeIndex(x, problems, id))
	}
	return newTextResolver(path, x, t, problems), unwritten, nil
}

// indexPath returns the path of a symbol file's index.
func indexPath(path, folder string) (string, error) {
	if folder == "" {
		return path + ".idx", nil
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256([]byte(abs))
	return filepath.Join(folder, hex.EncodeToString(digest[:])+".idx"), nil
}

// openThrough opens a symbol file through its index; it returns nil if the index cannot be used.
func openThrough(path, at string, f *os.File, id fingerprint) *Resolver {
	data, unmap, err := mapIndex(at)
	if err != nil {
		return nil
	}
	x, problems, err := decodeIndex(data, id)
	if err != nil {
		unmap()
		return nil
	}
	r := newTextResolver(path, x, f, problems)
	r.unmap = unmap
	return r
}

// mapIndex maps an index file, or reads it where the system cannot.
func mapIndex(at string) (data []byte, unmap func(), err error) {
	f, err := os.Open(at)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() || st.Size() < indexParts || st.Size() > maxIndex {
		return nil, nil, errors.New("not an index")
	}
	if data, err = bin.MapFile(f, 0, st.Size()); err == nil {
		return data, func() { bin.UnmapFile(data) }, nil
	}
	data, err = io.ReadAll(f)
	return data, func() {}, err
}

// writeIndex writes an index file in one step, replacing an old one. It creates the folder if
// necessary.
func writeIndex(at string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(at), ".symtool-*.idx")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), at)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
