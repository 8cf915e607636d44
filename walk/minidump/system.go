package minidump

import (
	"fmt"
	"strings"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/regset"
)

// platforms maps the values of MINIDUMP_SYSTEM_INFO.PlatformId to systems.
var platforms = map[uint32]dump.OS{
	0: dump.Windows, 1: dump.Windows, 2: dump.Windows, 3: dump.Windows,
	0x8101: dump.MacOS, 0x8102: dump.IOS, 0x8201: dump.Linux, 0x8202: dump.Solaris, 0x8203: dump.Android,
	0x8205: dump.Linux, // Native Client
	0x8206: dump.Fuchsia,
}

func (r *reader) systemInfo(s span) {
	c := r.cursor(s)
	cpu, level, revision, count := c.U16(), c.U16(), c.U16(), c.U8()
	c.Skip(1) // product type: workstation, server
	major, minor, build, platform, csd := c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
	c.Skip(4) // suites
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	sys := &r.d.System
	sys.OS, sys.CPUs = platforms[platform], int(count)
	if sys.CPU = cpus[cpu].name; sys.CPU == "" {
		sys.CPU = fmt.Sprintf("%#x", cpu)
	}
	r.d.Arch = cpus[cpu].arch
	if major|minor|build != 0 {
		sys.Version = fmt.Sprintf("%d.%d.%d", major, minor, build)
	}
	sys.Build = r.text(uint64(csd), label{"the system's version", -1})
	sys.Model = r.cpuModel(c, level, revision)
}

// cpuModel describes the processor; c is at CPU_INFORMATION, a union. Breakpad also uses the fields
// of x86 on x86-64, and has its own fields for ARM.
func (r *reader) cpuModel(c bin.Cursor, level, revision uint16) string {
	switch r.d.Arch {
	case arch.X86, arch.X86_64:
		vendor := string(c.Bytes(12))
		text := fmt.Sprintf("family %d model %d stepping %d", level, revision>>8, revision&0xff)
		if vendor == "" || strings.ContainsFunc(vendor, func(c rune) bool { return c <= ' ' || c > '~' }) {
			return text
		}
		return vendor + " " + text
	case arch.ARM, arch.ARM64:
		if id, caps := c.U32(), c.U32(); id != 0 {
			return fmt.Sprintf("ARMv%d cpuid %#08x hwcaps %#08x", level, id, caps)
		}
	}
	return ""
}

// Bits of MINIDUMP_MISC_INFO.Flags1.
const (
	miscProcessID    = 1 << 0
	miscProcessTimes = 1 << 1
	miscBuildString  = 1 << 8
)

func (r *reader) miscInfo(s span) {
	c := r.cursor(s)
	c.Skip(4) // its size
	flags, id, created, user, kernel := c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	p := &r.d.Process
	if flags&miscProcessID != 0 {
		p.ID, p.HasID = id, true
	}
	if flags&miscProcessTimes != 0 {
		p.Started = time.Unix(int64(created), 0).UTC()
		p.User, p.Kernel = time.Duration(user)*time.Second, time.Duration(kernel)*time.Second
	}
	const (
		buildString = 232 // after the power, the privileges and the time zone of versions 2 and 3
		buildSize   = 2 * 260
		debugSize   = 2 * 40
	)
	if flags&miscBuildString != 0 && len(s.data) >= buildString+buildSize+debugSize {
		r.d.System.Detail = r.fixed(s.data[buildString:][:buildSize])
		if tool := r.fixed(s.data[buildString+buildSize:][:debugSize]); tool != "" {
			r.d.System.Detail = strings.TrimLeft(r.d.System.Detail+"; "+tool, "; ")
		}
	}
	const xstate = buildString + buildSize + debugSize // XSTATE_CONFIG_FEATURE_MSC_INFO, in version 5
	if len(s.data) > xstate {
		r.xstateInfo(span{s.name, s.data[xstate:], s.off + xstate, s.size - xstate})
	}
}

// xstateInfo reads an XSTATE_CONFIG_FEATURE_MSC_INFO: the layout of XSAVE's area in contexts.
func (r *reader) xstateInfo(s span) {
	c := r.cursor(s)
	size, _, enabled := c.U32(), c.U32(), c.U64()
	if c.Err() != nil || size == 0 || enabled == 0 {
		return
	}
	layout := regset.XSave{}
	for n := range 63 {
		at, size := c.U32(), c.U32()
		if n < 2 || enabled>>n&1 == 0 || c.Err() != nil {
			continue
		}
		if err := layout.Add(n, int(at), int(size)); err != nil {
			r.problemf("vector registers", s.off, "XSTATE_CONFIG_FEATURE_MSC_INFO: %v", err)
			return
		}
	}
	if err := c.Err(); err != nil {
		r.problem("vector registers", err)
		return
	}
	r.xsave.Layout = layout
}

func (r *reader) breakpadInfo(s span) {
	c := r.cursor(s)
	valid, writer, requester := c.U32(), c.U32(), c.U32()
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	if r.d.HasWriter = valid&1 != 0; r.d.HasWriter {
		r.d.Writer = writer
	}
	if r.d.HasRequester = valid&2 != 0; r.d.HasRequester {
		r.d.Requester = requester
	}
}

func (r *reader) assertionInfo(s span) {
	const size = 2 * 128 // of each text
	if len(s.data) < 3*size+8 {
		r.problemf(s.name, s.off, "%d bytes, want %d", len(s.data), 3*size+8)
		return
	}
	c := r.cursor(s)
	a := &dump.Assertion{}
	a.Expression, a.Function, a.File = r.fixed(c.Bytes(size)), r.fixed(c.Bytes(size)), r.fixed(c.Bytes(size))
	a.Line, a.Type = c.U32(), c.U32()
	r.d.Assertion = a
}

func (r *reader) handleData(s span) {
	const least = 32 // MINIDUMP_HANDLE_DESCRIPTOR
	r.longList(s, false, least, func(_, n int, _ *bin.Cursor) { r.d.Handles = n })
}

func (r *reader) commentA(s span) { r.d.Comment = cString(s.data) }
func (r *reader) commentW(s span) { r.d.Comment = r.fixed(s.data) }
