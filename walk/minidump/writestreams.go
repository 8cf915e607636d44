package minidump

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

// streamWriters are the streams that are written, in their order in the file:
// Breakpad's, followed by others'.
var streamWriters = []streamWriter{
	{3, always, (*writer).threadList},
	{4, always, (*writer).moduleList},
	{memory32, always, (*writer).memoryList},
	{memory64, always, (*writer).memory64List},
	{6, func(d *dump.Dump) bool { return d.Crash != nil }, (*writer).exception},
	{7, always, (*writer).systemInfo},
	{15, hasMisc, (*writer).miscInfo},
	{24, hasNames, (*writer).threadNames},
	{14, func(d *dump.Dump) bool { return len(d.Unloaded) > 0 }, (*writer).unloadedModules},
	{16, hasMemoryInfo, (*writer).memoryInfoList},
	{10, func(d *dump.Dump) bool { return d.Comment != "" }, func(w *writer) []byte { return append([]byte(w.d.Comment), 0) }},
	{0x47670001, func(d *dump.Dump) bool { return d.HasWriter || d.HasRequester }, (*writer).breakpadInfo},
	{0x47670002, func(d *dump.Dump) bool { return d.Assertion != nil }, (*writer).assertionInfo},
	fileWriter(0x47670003, "/proc/cpuinfo"),
	{0x47670004, hasStatus, (*writer).procStatus},
	fileWriter(0x47670005, "/etc/lsb-release"),
	{0x47670006, func(d *dump.Dump) bool { return len(d.Process.Args) > 0 }, func(w *writer) []byte { return w.nulTexts(w.d.Process.Args) }},
	{0x47670007, func(d *dump.Dump) bool { return len(d.Process.Env) > 0 }, func(w *writer) []byte { return w.nulTexts(w.d.Process.Env) }},
	{0x47670008, func(d *dump.Dump) bool { return len(d.Auxv) > 0 }, (*writer).auxv},
	{0x47670009, hasLinuxMaps, (*writer).linuxMaps},
	{0x4767000a, func(d *dump.Dump) bool { return d.Linker != nil }, (*writer).dsoDebug},
	{0x43500001, hasCrashpad, (*writer).crashpadInfo},
	fileWriter(0x4d7a0003, "/proc/self/limits"),
	fileWriter(0x4d7a0004, "soft-errors.json"),
	{dump.RestType, always, (*writer).rest},
}

// streamFiles are the files for which there is a stream.
var streamFiles = map[string]bool{statusFile: true}

// fileWriter returns the writer for a file's stream.
func fileWriter(kind uint32, name string) streamWriter {
	streamFiles[name] = true
	return streamWriter{kind,
		func(d *dump.Dump) bool { return fileOf(d, name) != nil },
		func(w *writer) []byte { return fileOf(w.d, name).Data }}
}

func fileOf(d *dump.Dump, name string) *dump.File {
	for i := range d.Files {
		if d.Files[i].Name == name {
			return &d.Files[i]
		}
	}
	return nil
}

// reportLost reports what no stream can represent.
func (w *writer) reportLost() {
	d := w.d
	for i := range d.Files {
		if name := d.Files[i].Name; !streamFiles[name] || fileOf(d, name) != &d.Files[i] {
			w.problem(fmt.Sprintf("file %.80q", name), "minidumps have no stream for it")
		}
	}
	if d.Handles > 0 {
		w.problem("handles", "only their number, %d, is known", d.Handles)
	}
	if d.System.Detail != "" {
		w.problem("detail of the system", "%.80q has no place", d.System.Detail)
	}
	if !hasLinuxMaps(d) && !hasMemoryInfo(d) && len(d.Maps) > 0 {
		w.problem("mappings", "%d, which are neither Linux's nor Windows'", len(d.Maps))
	}
	w.reportSignals()
	for _, lost := range slices.Sorted(maps.Keys(w.lost)) {
		w.problem("registers", "%s, of %d threads", lost, w.lost[lost])
	}
}

// rest returns the stream with what other streams cannot represent.
func (w *writer) rest() []byte {
	var l *layout
	if w.d.Arch != nil {
		l = w.layoutFor(w.d.Arch)
	}
	b, err := w.d.Rest(dump.Holding{Register: func(reg int) bool { return l != nil && l.holds(reg) }})
	if err != nil {
		w.err = err
	}
	return b
}

// reportSignals reports threads with a signal other than the crash's, which minidumps of Linux
// cannot represent.
func (w *writer) reportSignals() {
	n := 0
	for i := range w.d.Threads {
		if s := w.d.Threads[i].Signal; s != 0 && (w.d.Crash == nil || uint32(s) != w.d.Crash.Code) {
			n++
		}
	}
	if n > 0 {
		w.problem("signals of threads", "%d threads have a signal other than the crash's", n)
	}
}

func (w *writer) memoryList() []byte {
	b := w.u32(nil, uint32(len(w.d.Memory.Regions)))
	for i, r := range w.d.Memory.Regions {
		b = w.place(w.u64(b, r.Addr), location{w.memory[i], uint64(len(r.Data))})
	}
	return b
}

func (w *writer) memory64List() []byte {
	b := w.u64(nil, uint64(len(w.d.Memory.Regions)), 0)
	for _, r := range w.d.Memory.Regions {
		b = w.u64(b, r.Addr, uint64(len(r.Data)))
	}
	return b
}

func hasMemoryInfo(d *dump.Dump) bool {
	for i := range d.Maps {
		if d.Maps[i].State != 0 {
			return true
		}
	}
	return false
}

func (w *writer) memoryInfoList() []byte {
	const header, entry = 16, 48
	b := w.u64(w.u32(nil, header, entry), uint64(len(w.d.Maps)))
	for i := range w.d.Maps {
		m := &w.d.Maps[i]
		b = w.u32(w.u64(b, m.Addr, m.AllocBase), m.AllocProtect, 0)
		b = w.u32(w.u64(b, m.Size), m.State, m.Protect, m.Type, 0)
	}
	return b
}

func (w *writer) nulTexts(list []string) []byte {
	return append([]byte(strings.Join(list, "\x00")), 0)
}
