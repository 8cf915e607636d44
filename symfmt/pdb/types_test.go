package pdb

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// typesOf returns a table with records of the given sizes, each filled with its own byte. Its header claims
// count types.
func typesOf(t *testing.T, count uint32, sizes ...int) *typeTable {
	t.Helper()
	le := binary.LittleEndian
	data := le.AppendUint32(le.AppendUint32(nil, 20040203), 16)
	data = le.AppendUint32(le.AppendUint32(data, firstType), firstType+count)
	for i, n := range sizes {
		data = le.AppendUint16(le.AppendUint16(data, uint16(n+2)), leafClass)
		data = append(data, bytes.Repeat([]byte{byte(i + 1)}, n)...)
	}
	c := &container{r: bytes.NewReader(data), size: int64(len(data)), block: 512, streams: make([]stream, typeStream+1)}
	s := stream{size: c.size}
	for i := range c.count(c.size) {
		s.blocks = append(s.blocks, uint32(i))
	}
	c.streams[typeStream] = s
	table, err := (&database{container: c}).readTypes(typeStream)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Records are read whole if they are in one page, in two, or in many, whatever was read before. The number of
// types that the header claims costs no memory.
func TestTypeRecords(t *testing.T) {
	sizes := []int{8, pageSize - 40, 100, 3*pageSize + 7, 60000, 12, 20, 4, 9, pageSize, 16}
	r := typeReader{typeTable: typesOf(t, 1<<31, sizes...)}
	if n := cap(r.offsets); n > 1<<20 {
		t.Errorf("memory for %d records", n)
	}
	for range 2 {
		for _, i := range []int{5, 0, 10, 3, 2, 8, 4, 7, 1, 9, 6} {
			kind, b := r.record(firstType + uint32(i))
			if kind != leafClass || len(b) != sizes[i] || len(bytes.Trim(b, string([]byte{byte(i + 1)}))) > 0 {
				t.Errorf("record %d: kind %#x, %d bytes, want %#x, %d", i, kind, len(b), leafClass, sizes[i])
			}
		}
	}
	if kind, b := r.record(firstType + uint32(len(sizes))); kind != 0 || b != nil {
		t.Errorf("a record past the last: kind %#x, %d bytes", kind, len(b))
	}
}
