package minidump

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// yamlStream is a stream as obj2yaml prints it: its own fields, the fields of
// its list's entries, flattened, and the lines of its text.
type yamlStream struct {
	kind    string
	fields  map[string]string
	entries []map[string]string
	text    []string
}

func parseYAML(text string) (streams []yamlStream) {
	var s *yamlStream
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		if kind, ok := strings.CutPrefix(trimmed, "- Type: "); ok {
			streams = append(streams, yamlStream{kind: strings.TrimSpace(kind), fields: map[string]string{}})
			s = &streams[len(streams)-1]
			continue
		}
		if s == nil {
			continue
		}
		if s.fields["Text"] == "|" {
			s.text = append(s.text, trimmed)
			continue
		}
		if rest, ok := strings.CutPrefix(line, "      - "); ok {
			s.entries = append(s.entries, map[string]string{})
			trimmed = rest
		}
		key, value, _ := strings.Cut(trimmed, ":")
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '\'' || value[0] == '"') {
			value = strings.ReplaceAll(value[1:len(value)-1], "''", "'")
		}
		if n := len(s.entries); n > 0 && strings.HasPrefix(line, "      ") {
			s.entries[n-1][key] = value
		} else {
			s.fields[key] = value
		}
	}
	return streams
}

// TestObj2yaml compares every dump with what LLVM's obj2yaml prints.
func TestObj2yaml(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "obj2yaml-22")
	data := testenv.Shared(t, "data")
	files, _ := filepath.Glob(filepath.Join(data, "minidumps", "*", "*.dmp"))
	more, _ := filepath.Glob(filepath.Join(data, "crashes", "*", "dump.dmp"))
	total := 0
	for _, file := range append(files, more...) {
		if filepath.Base(file) == "invalid-range.dmp" {
			continue // obj2yaml does not read it
		}
		name, _ := filepath.Rel(data, file)
		out, err := exec.Command(tool, file).Output()
		if err != nil {
			t.Fatal(name, err)
		}
		y := yamlCheck{t: t, name: name, d: readDump(t, name)}
		for _, s := range parseYAML(string(out)) {
			y.stream(s)
		}
		if y.compared < 40 {
			t.Errorf("%s: compared %d fields only", name, y.compared)
		}
		total += y.compared
	}
	t.Logf("%d dumps, %d fields compared", len(files)+len(more)-1, total)
	if len(files)+len(more) < 21 {
		t.Errorf("%d dumps only", len(files)+len(more))
	}
}

type yamlCheck struct {
	t        *testing.T
	name     string
	d        *dump.Dump
	compared int
}

func (y *yamlCheck) equal(what string, got, want any) {
	y.t.Helper()
	y.compared++
	if fmt.Sprint(got) != fmt.Sprint(want) {
		y.t.Errorf("%s: %s is %v, want %v", y.name, what, got, want)
	}
}

// number reads a field; one that is left out is 0.
func (y *yamlCheck) number(fields map[string]string, key string) uint64 {
	if fields[key] == "" {
		return 0
	}
	v, err := strconv.ParseUint(fields[key], 0, 64)
	if err != nil {
		y.t.Errorf("%s: %s: %v", y.name, key, err)
	}
	return v
}

func (y *yamlCheck) bytes(fields map[string]string, key string) []byte {
	b, err := hex.DecodeString(fields[key])
	if err != nil {
		y.t.Errorf("%s: %s: %v", y.name, key, err)
	}
	return b
}

func (y *yamlCheck) stream(s yamlStream) {
	switch s.kind {
	case "ThreadList":
		y.equal("threads", len(y.d.Threads), len(s.entries))
		for i, e := range s.entries {
			y.thread(&y.d.Threads[i], e)
		}
	case "ModuleList":
		y.equal("modules", len(y.d.Modules), len(s.entries))
		for _, e := range s.entries {
			y.module(e)
		}
	case "MemoryList":
		for _, e := range s.entries {
			y.memory(e)
		}
	case "Exception":
		y.exception(s)
	case "SystemInfo":
		y.system(s.fields)
	case "MemoryInfoList":
		y.equal("mappings", len(y.d.Maps), len(s.entries))
		for i, e := range s.entries {
			y.equal("mapping", y.d.Maps[i].Range, dump.Range{Addr: y.number(e, "Base Address"), Size: y.number(e, "Region Size")})
		}
	case "LinuxMaps":
		y.maps(s.text)
	}
}

func (y *yamlCheck) thread(t *dump.Thread, e map[string]string) {
	y.equal("thread", t.ID, y.number(e, "Thread Id"))
	y.equal("priority class", t.Class, y.number(e, "Priority Class"))
	y.equal("priority", t.Prio, y.number(e, "Priority"))
	y.equal("suspend count", t.Suspend, y.number(e, "Suspend Count"))
	y.equal("TEB", t.TEB, y.number(e, "Environment Block"))
	y.memory(e)
	if len(y.bytes(e, "Content")) > 0 {
		y.equal("stack", t.Stack, dump.Range{Addr: y.number(e, "Start of Memory Range"), Size: uint64(len(y.bytes(e, "Content")))})
	}
	y.context(t.Context, y.bytes(e, "Context"))
}

func (y *yamlCheck) context(c *dump.Context, b []byte) {
	switch c.Arch {
	case arch.X86_64:
		y.equal("rip", c.PC(), binary.LittleEndian.Uint64(b[0xf8:]))
		y.equal("rsp", c.SP(), binary.LittleEndian.Uint64(b[0x98:]))
	case arch.X86:
		y.equal("eip", c.PC(), binary.LittleEndian.Uint32(b[0xb8:]))
		y.equal("esp", c.SP(), binary.LittleEndian.Uint32(b[0xc4:]))
	}
}

func (y *yamlCheck) memory(e map[string]string) {
	want := y.bytes(e, "Content")
	addr := y.number(e, "Start of Memory Range")
	y.compared++
	if got := y.d.Memory.Bytes(addr, len(want)); !bytes.Equal(got, want) {
		y.t.Errorf("%s: memory at %#x: %d bytes, want %d, or they differ", y.name, addr, len(got), len(want))
	}
}

func (y *yamlCheck) module(e map[string]string) {
	i := y.d.ModuleAt(y.number(e, "Base of Image"))
	if i < 0 {
		y.t.Errorf("%s: no module at %s", y.name, e["Base of Image"])
		return
	}
	m := &y.d.Modules[i]
	y.equal("base", m.Addr, y.number(e, "Base of Image"))
	y.equal("size", m.ListedSize(), y.number(e, "Size of Image"))
	y.equal("checksum", m.Checksum, y.number(e, "Checksum"))
	y.equal("time", m.Time, y.number(e, "Time Date Stamp"))
	y.equal("name", m.Path, e["Module Name"])
	four := func(kind string) string {
		high, low := y.number(e, kind+" Version High"), y.number(e, kind+" Version Low")
		if y.number(e, "Signature") == 0 || high|low == 0 {
			return ""
		}
		return fmt.Sprintf("%d.%d.%d.%d", high>>16, high&0xffff, low>>16, low&0xffff)
	}
	y.equal("file version", m.Version, four("File"))
	y.equal("product version", m.Product, four("Product"))
	y.equal("id", m.DebugID, idOf(y.bytes(e, "CodeView Record")))
}

// idOf makes the id of a record: the first three fields of a GUID are numbers.
func idOf(cv []byte) string {
	guid := func(b []byte, age string) string {
		if bytes.Count(b, []byte{0}) == 16 {
			return ""
		}
		return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X%s", b[3], b[2], b[1], b[0], b[5], b[4], b[7], b[6], b[8:], age)
	}
	switch {
	case bytes.HasPrefix(cv, []byte("RSDS")):
		return guid(cv[4:20], fmt.Sprintf("%x", binary.LittleEndian.Uint32(cv[20:])))
	case bytes.HasPrefix(cv, []byte("LEpB")):
		return guid(append(cv[4:], make([]byte, 16)...)[:16], "0")
	case len(cv) == 0:
		return ""
	}
	return fmt.Sprintf("record %x", cv[:4])
}

func (y *yamlCheck) exception(s yamlStream) {
	fields := s.fields
	c := y.d.Crash
	y.equal("crashed thread", c.Thread, y.number(fields, "Thread ID"))
	y.equal("code", c.Code, y.number(fields, "Exception Code"))
	y.equal("flags", c.Flags, y.number(fields, "Exception Flags"))
	y.equal("parameters", len(c.Params), y.number(fields, "Number of Parameters"))
	for i, p := range c.Params {
		y.equal("parameter", p, y.number(fields, fmt.Sprintf("Parameter %d", i)))
	}
	address := y.number(fields, "Exception Address")
	if y.d.System.OS == dump.Windows && c.Code == 0xc0000005 {
		address = c.Params[1] // the one that was accessed
	}
	if y.d.Arch.PtrSize == 4 {
		address = uint64(uint32(address))
	}
	y.equal("address", c.Address, address)
}

func (y *yamlCheck) system(fields map[string]string) {
	s := &y.d.System
	y.equal("CPU", map[string]string{"x86": "X86", "amd64": "AMD64"}[s.CPU], fields["Processor Arch"])
	y.equal("system", map[dump.OS]string{dump.Windows: "Win32NT", dump.Linux: "Linux", dump.MacOS: "MacOSX"}[s.OS], fields["Platform ID"])
	y.equal("processors", s.CPUs, y.number(fields, "Number of Processors"))
	y.equal("build", s.Build, fields["CSD Version"])
	version := fmt.Sprintf("%d.%d.%d", y.number(fields, "Major Version"), y.number(fields, "Minor Version"), y.number(fields, "Build Number"))
	if version == "0.0.0" {
		version = "" // not written
	}
	y.equal("version", s.Version, version)
	revision := y.number(fields, "Processor Revision")
	model := fmt.Sprintf("family %d model %d stepping %d", y.number(fields, "Processor Level"), revision>>8, revision&0xff)
	// Crashpad and Windows store feature bits there on x86-64, which obj2yaml
	// takes for a vendor.
	if vendor := fields["Vendor ID"]; vendor != "" && !strings.Contains(vendor, `\`) {
		model = vendor + " " + model
	}
	y.equal("model", s.Model, model)
}

func (y *yamlCheck) maps(lines []string) {
	n := 0
	for _, line := range lines {
		if line == "" || strings.HasPrefix(line, "...") {
			continue
		}
		m := y.d.Maps[n]
		permissions := []byte("---p")
		for i, set := range []bool{m.Read, m.Write, m.Exec, m.Shared} {
			if set {
				permissions[i] = "rwxs"[i]
			}
		}
		got := fmt.Sprintf("%08x-%08x %s %08x %s %d %s", m.Addr, m.Addr+m.Size, permissions, m.Offset, m.Device, m.Inode, m.Path)
		y.equal("mapping", strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(line), " "))
		n++
	}
	y.equal("mappings", len(y.d.Maps), n)
}
