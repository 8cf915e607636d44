package minidump

import (
	"fmt"
	"strings"

	"github.com/symtool/symtool/walk/dump"
)

const statusFile = "/proc/self/status"

func isLinux(d *dump.Dump) bool {
	return d.System.OS == dump.Linux || d.System.OS == dump.Android
}

func hasStatus(d *dump.Dump) bool {
	return fileOf(d, statusFile) != nil || isLinux(d) && (d.Process.HasID || d.Process.Name != "")
}

// procStatus returns the copied file, or a substitute with the lines that identify the process.
func (w *writer) procStatus() []byte {
	if f := fileOf(w.d, statusFile); f != nil {
		return f.Data
	}
	var b strings.Builder
	p := &w.d.Process
	if p.Name != "" {
		fmt.Fprintf(&b, "Name:\t%s\n", strings.Map(printable, p.Name))
	}
	if p.HasID {
		fmt.Fprintf(&b, "Pid:\t%d\nPPid:\t%d\nUid:\t%d\nGid:\t%d\n", p.ID, p.Parent, p.UID, p.GID)
	}
	return []byte(b.String())
}

func printable(r rune) rune {
	if r < ' ' {
		return '?'
	}
	return r
}

func (w *writer) auxv() (b []byte) {
	for _, a := range w.d.Auxv {
		b = w.word(b, a.Key, a.Value)
	}
	return w.word(b, 0, 0)
}

func hasLinuxMaps(d *dump.Dump) bool { return isLinux(d) && len(d.Maps) > 0 }

// linuxMaps writes lines in the form of /proc/self/maps (Linux, fs/proc/task_mmu.c,
// show_vma_header_prefix), where paths begin at a fixed column.
func (w *writer) linuxMaps() []byte {
	const column = 73
	size := 0
	for i := range w.d.Maps {
		size += column + 1 + len(w.d.Maps[i].Path) // few mappings have a longer line
	}
	b := make([]byte, 0, size)
	for i := range w.d.Maps {
		m := &w.d.Maps[i]
		perms := []byte("---p")
		// A mapping with unknown permissions counts as executable: otherwise readers would take its code
		// for data.
		for k, set := range []bool{m.Read, m.Write, m.Exec || m.Unknown} {
			if set {
				perms[k] = "rwx"[k]
			}
		}
		if m.Shared {
			perms[3] = 's'
		}
		device := m.Device
		if device == "" {
			device = "00:00"
		}
		line := fmt.Sprintf("%08x-%08x %s %08x %s %d ", m.Addr, m.Addr+m.Size, perms, m.Offset, device, m.Inode)
		if m.Path != "" {
			line += strings.Repeat(" ", max(0, column-len(line))) + strings.Map(printable, m.Path)
		}
		b = append(append(b, line...), '\n')
	}
	return b
}

// dsoDebug writes Breakpad's MDRawDebug32 or 64: what the dynamic linker publishes for debuggers,
// followed by the program's dynamic section.
func (w *writer) dsoDebug() []byte {
	l := w.d.Linker
	pad := make([]byte, w.wordSize()-4)
	var maps []byte
	for _, m := range l.Maps {
		name := w.text(m.Name)
		maps = append(w.u32(w.word(maps, m.Addr), name), pad...)
		maps = w.word(maps, m.Dynamic)
	}
	list := location{}
	if len(maps) > 0 {
		list = w.put(maps)
	}
	b := append(w.u32(nil, l.Version, uint32(list.off), uint32(len(l.Maps))), pad...)
	return append(w.word(b, l.Break, l.Base, l.Dynamic), l.Section...)
}
