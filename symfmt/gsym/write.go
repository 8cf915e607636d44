package gsym

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// byteOrder combines the interfaces of encoding/binary's orders.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

func orderFor(o binary.ByteOrder) byteOrder {
	if o.Uint16([]byte{0, 1}) == 1 {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// writer holds the tables that FunctionInfos refer to.
type writer struct {
	plan    *plan
	version int
	order   byteOrder
	strSize int
	base    uint64
	uuid    []byte

	strings     stringTable
	files       *fileTable
	funcNames   []uint64 // indexed like Module.Funcs; 0 for those not written
	publicNames []uint64
	originNames []uint64
	origins     numbers // indices in originNames by OriginID
	originFiles []uint32
	noName      uint64 // name of undeclared origins
	noFile      uint32 // file for unknown files
	tooLong     atomic.Bool
}

// Errors for a module that GSYM cannot hold at all.
var (
	errNothing = errors.New("no FUNC with a size and no PUBLIC: GSYM cannot represent that")
	errLarge   = errors.New("strings or functions larger than 4 GB, which is the limit of GSYM version 1: use version 2")
	errTooLong = errors.New("lines or inlined functions of one FUNC need more than 4 GB")
)

// Write writes m as GSYM. It does not modify m, and the output does not depend on
// the order of its records. Losses reports what is left out.
// It uses as much memory as the file and its names.
func Write(out io.Writer, m *symfmt.Module, o Options) error {
	w, err := newWriter(m, o)
	if err == nil {
		err = w.write(out, o.Jobs)
	}
	if err != nil {
		return fmt.Errorf("GSYM of %s: %w", symfmt.CleanName(m.Name, "unknown"), err)
	}
	return nil
}

func newWriter(m *symfmt.Module, o Options) (*writer, error) {
	version, err := o.version()
	if err != nil {
		return nil, err
	}
	w := &writer{
		plan: newPlan(m, o.Base), version: version, order: orderFor(o.order(m)), strSize: 4 * version,
		base: o.Base, uuid: identify(m).uuid, strings: newStringTable(),
	}
	if len(w.plan.items) == 0 {
		return nil, errNothing
	}
	if version == 1 && len(w.uuid) > maxUUID1 {
		w.uuid = w.uuid[:maxUUID1]
	}
	w.addNames(m)
	return w, nil
}

// addNames adds all strings and files to their tables, so that workers only
// read them: files, then functions by address, then the rest.
func (w *writer) addNames(m *symfmt.Module) {
	w.files = newFileTable(m, &w.strings)
	w.funcNames, w.publicNames = make([]uint64, len(m.Funcs)), make([]uint64, len(m.Publics))
	for i := range w.plan.items {
		it := &w.plan.items[i]
		for _, k := range w.plan.funcs[it.funcs.first:][:it.funcs.count] {
			w.funcNames[k] = w.name(m.Funcs[k].Name)
		}
		for _, k := range w.plan.publics[it.publics.first:][:it.publics.count] {
			w.publicNames[k] = w.name(m.Publics[k].Name)
		}
	}
	w.addOrigins(m)
	undeclared := func(id symfmt.FileID) { w.files.addUnknown(id, &w.strings) }
	for _, k := range w.plan.funcs {
		m.Funcs[k].Body.Refs(undeclared, func(symfmt.OriginID) {})
	}
	// The file of rows that end a line, and of unknown calls.
	w.files.empty = uint32(len(w.files.entries))
	w.files.entries = append(w.files.entries, fileEntry{})
	w.noFile = w.files.add(symfmt.NoFile, &w.strings)
}

func (w *writer) name(s string) uint64 { return w.strings.add(symfmt.CleanName(s, symfmt.NoName)) }

func (w *writer) addOrigins(m *symfmt.Module) {
	w.origins = newNumbers(len(m.Origins))
	for i := range m.Origins {
		o := &m.Origins[i]
		if _, known := w.origins.find(uint32(o.ID)); known {
			continue
		}
		w.origins.set(uint32(o.ID), uint32(len(w.originNames)))
		w.originNames = append(w.originNames, w.name(o.Name))
		file := uint32(math.MaxUint32)
		if o.HasFile && o.File >= 0 && o.File <= math.MaxUint32 {
			file, _ = w.files.number.find(uint32(o.File))
		}
		w.originFiles = append(w.originFiles, file)
	}
	w.noName = w.name(symfmt.NoName)
}

func (w *writer) originName(id symfmt.OriginID) uint64 {
	if i, ok := w.origins.find(uint32(id)); ok {
		return w.originNames[i]
	}
	return w.noName
}

func (w *writer) originFile(id symfmt.OriginID) uint32 {
	if i, ok := w.origins.find(uint32(id)); ok && w.originFiles[i] != math.MaxUint32 {
		return w.originFiles[i]
	}
	return w.noFile
}

// file returns the index of a file in GSYM's table.
func (w *writer) file(id symfmt.FileID) uint32 {
	at, _ := w.files.number.find(uint32(id))
	return at
}

// chunkItems is how many items one worker encodes at a time.
const chunkItems = 512

// chunk holds the FunctionInfos of some items.
type chunk struct {
	parts   [][]byte
	size    uint64   // of all parts, in bytes
	offsets []uint32 // offsets of the FunctionInfos in parts
}

func (c *chunk) add(part []byte) {
	c.parts = append(c.parts, part)
	c.size += uint64(len(part))
}

// encode encodes all FunctionInfos.
func (w *writer) encode(jobs int) ([]chunk, error) {
	items := w.plan.items
	encoders := make([]encoder, par.Jobs(jobs))
	chunks, err := par.Map(context.Background(), jobs, (len(items)+chunkItems-1)/chunkItems,
		func(_ context.Context, worker, n int) (chunk, error) {
			e := &encoders[worker]
			e.w = w
			for i := n * chunkItems; i < min((n+1)*chunkItems, len(items)); i++ {
				e.item(&items[i])
				if e.chunk.size+uint64(len(e.buf)) > math.MaxUint32 {
					return chunk{}, errTooLong
				}
			}
			return e.take(), nil
		})
	if err == nil && w.tooLong.Load() {
		err = errTooLong
	}
	return chunks, err
}

// write writes the file. The FunctionInfos are encoded first, since the tables
// before them hold their offsets.
func (w *writer) write(out io.Writer, jobs int) error {
	chunks, err := w.encode(jobs)
	if err != nil {
		return err
	}
	l := w.layout(chunks)
	if w.version == 1 && l.size > math.MaxUint32 {
		return errLarge
	}
	parts := [][]byte{w.head(&l), w.addresses(&l), w.offsets(&l, chunks), w.fileEntries(), w.strings.data}
	for _, c := range chunks {
		parts = append(parts, c.parts...)
	}
	return l.write(out, parts)
}
