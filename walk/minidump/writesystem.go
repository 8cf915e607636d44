package minidump

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// Platforms of systems that have several.
const (
	platformNT      = 2
	platformLinux   = 0x8201
	platformUnknown = 0xffff
)

func (w *writer) systemInfo() []byte {
	s := &w.d.System
	cpu, level, revision, info := w.cpu()
	var major, minor, build uint32
	if _, err := fmt.Sscanf(s.Version, "%d.%d.%d", &major, &minor, &build); err != nil && s.Version != "" {
		w.problem("the system's version", "%.40q is not three numbers", s.Version)
	}
	csd := w.text(s.Build) // even if empty: Breakpad reads a string at any offset
	if s.CPUs > 255 {
		w.problem("the number of CPUs", "%d, want at most 255", s.CPUs)
	}
	b := w.u16(nil, cpu, level, revision)
	b = append(b, byte(min(max(s.CPUs, 0), 255)), 0)
	b = w.u32(b, major, minor, build, w.platform(), csd, 0)
	return append(b, info[:]...)
}

func (w *writer) platform() uint32 {
	switch w.d.System.OS {
	case dump.Windows:
		return platformNT
	case dump.Linux:
		return platformLinux
	}
	for _, id := range slices.Sorted(maps.Keys(platforms)) {
		if platforms[id] == w.d.System.OS {
			return id
		}
	}
	if w.d.System.OS != dump.UnknownOS {
		w.problem("the system", "minidumps have no number for %v", w.d.System.OS)
	}
	return platformUnknown
}

// cpu encodes the processor in the form that cpuModel reads.
func (w *writer) cpu() (kind, level, revision uint16, info [24]byte) {
	kind = w.processor()
	text := w.d.System.Model
	var n, model, stepping uint16
	var id, caps uint32
	switch w.d.Arch {
	case arch.X86, arch.X86_64:
		at := strings.LastIndex(text, "family ")
		if at >= 0 {
			fmt.Sscanf(text[at:], "family %d model %d stepping %d", &n, &model, &stepping)
			copy(info[:12], strings.TrimRight(text[:at], " "))
		}
		return kind, n, model<<8 | stepping&0xff, info
	case arch.ARM, arch.ARM64:
		fmt.Sscanf(text, "ARMv%d cpuid %v hwcaps %v", &n, &id, &caps)
		w.order.PutUint32(info[0:], id)
		w.order.PutUint32(info[4:], caps)
		return kind, n, 0, info
	}
	return kind, 0, 0, info
}

// processor returns the number of a CPU. If it has several, it returns the lowest, because the
// higher ones are special cases: 32-bit x86 on 64-bit Windows, and Breakpad's own numbers from
// before Microsoft defined one.
func (w *writer) processor() uint16 {
	const unknown = 0xffff
	for _, id := range slices.Sorted(maps.Keys(cpus)) {
		if cpus[id].arch == w.d.Arch && w.d.Arch != nil {
			return id
		}
	}
	name := "unknown"
	if w.d.Arch != nil {
		name = w.d.Arch.Name
	}
	w.problem("the CPU", "minidumps have no number for %s", name)
	return unknown
}

func hasMisc(d *dump.Dump) bool { return d.Process.HasID || hasTimes(d) }

func hasTimes(d *dump.Dump) bool {
	p := &d.Process
	return !p.Started.IsZero() || p.User != 0 || p.Kernel != 0
}

func (w *writer) miscInfo() []byte {
	const size = 24
	p := &w.d.Process
	var flags, started uint32
	if p.HasID {
		flags |= miscProcessID
	}
	if hasTimes(w.d) {
		flags |= miscProcessTimes
		if !p.Started.IsZero() {
			started = uint32(p.Started.Unix())
		}
		if p.User%time.Second != 0 || p.Kernel%time.Second != 0 {
			w.problem("parts of seconds of the process's times", "%v and %v, want whole seconds", p.User, p.Kernel)
		}
	}
	return w.u32(nil, size, flags, p.ID, started, uint32(p.User/time.Second), uint32(p.Kernel/time.Second))
}

func (w *writer) breakpadInfo() []byte {
	var valid uint32
	if w.d.HasWriter {
		valid |= 1
	}
	if w.d.HasRequester {
		valid |= 2
	}
	return w.u32(nil, valid, w.d.Writer, w.d.Requester)
}

func (w *writer) assertionInfo() (b []byte) {
	const size = 2 * 128
	a := w.d.Assertion
	for _, s := range []string{a.Expression, a.Function, a.File} {
		b = w.fixed(b, s, size)
	}
	return w.u32(b, a.Line, a.Type)
}

func hasCrashpad(d *dump.Dump) bool {
	return len(d.Annotations) > 0 || d.ReportID != "" || d.ClientID != ""
}

// crashpadInfo writes MinidumpCrashpadInfo.
func (w *writer) crashpadInfo() []byte {
	byModule := map[string][]dump.Annotation{}
	for _, a := range w.d.Annotations {
		byModule[a.Module] = append(byModule[a.Module], a)
	}
	own := w.dictionary(byModule[""])
	delete(byModule, "")
	var links []byte
	n := uint32(0)
	for number, i := range w.modules {
		path := w.d.Modules[i].Path
		if list := byModule[path]; len(list) > 0 && path != "" {
			links = w.place(w.u32(links, uint32(number)), w.moduleAnnotations(list))
			n++
			delete(byModule, path)
		}
	}
	if len(byModule) > 0 {
		w.problem("annotations", "those of %d modules that are not in the list", len(byModule))
	}
	list := location{}
	if n > 0 {
		list = w.put(append(w.u32(nil, n), links...))
	}
	b := w.u32(nil, 1)
	b = append(append(b, w.uuid(w.d.ReportID)...), w.uuid(w.d.ClientID)...)
	return w.place(w.place(b, own), list)
}

// uuid parses a GUID.
func (w *writer) uuid(text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if len(b) != 16 || err != nil {
		return make([]byte, 16)
	}
	return bigEndianGUID(b, w.order)
}

// dictionary writes a MinidumpSimpleStringDictionary.
func (w *writer) dictionary(list []dump.Annotation) location {
	if len(list) == 0 {
		return location{}
	}
	b := w.u32(nil, uint32(len(list)))
	for _, a := range list {
		b = w.u32(b, w.utf8(a.Key), w.utf8(a.Value))
	}
	return w.put(b)
}

// utf8 writes a MinidumpUTF8String and returns its offset.
func (w *writer) utf8(s string) uint32 {
	return uint32(w.put(append(append(w.u32(nil, uint32(len(s))), s...), 0)).off)
}

// moduleAnnotations writes a MinidumpModuleCrashpadInfo: values without a key in
// a list, the others in a dictionary.
func (w *writer) moduleAnnotations(all []dump.Annotation) location {
	var values []byte
	var pairs []dump.Annotation
	n := uint32(0)
	for _, a := range all {
		if a.Key != "" {
			pairs = append(pairs, a)
			continue
		}
		values = w.u32(values, w.utf8(a.Value))
		n++
	}
	list := location{}
	if n > 0 {
		list = w.put(append(w.u32(nil, n), values...))
	}
	b := w.place(w.place(w.u32(nil, 1), list), w.dictionary(pairs))
	return w.put(w.place(b, location{}))
}
