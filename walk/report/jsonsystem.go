package report

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
)

// docSystem is the machine and its system.
type docSystem struct {
	CPUArch *string `json:"cpu_arch"`
	// CPUCount is the dump's count; null for 0.
	CPUCount            *int    `json:"cpu_count"`
	CPUInfo             *string `json:"cpu_info"`
	CPUMicrocodeVersion *string `json:"cpu_microcode_version"` // from /proc/cpuinfo
	OS                  *string `json:"os"`
	OSVer               *string `json:"os_ver"`
}

// docLSB is the contents of /etc/lsb-release or /etc/os-release.
type docLSB struct {
	Codename    *string `json:"codename"`
	Description *string `json:"description"`
	ID          *string `json:"id"`
	Release     *string `json:"release"`
}

// peerSystems are rust-minidump's names of systems, where they differ from ours.
var peerSystems = map[dump.OS]string{dump.Windows: "Windows NT", dump.MacOS: "Mac OS X", dump.UnknownOS: ""}

// peerCPUs are rust-minidump's names of CPUs, where they differ from ours.
var peerCPUs = map[*arch.Arch]string{arch.X86_64: "amd64"}

func systemInfo(d *dump.Dump) docSystem {
	sys := &d.System
	name, renamed := peerSystems[sys.OS]
	if !renamed {
		name = sys.OS.String()
	}
	cpu := sys.CPU
	if a := d.Arch; a != nil {
		if cpu = peerCPUs[a]; cpu == "" {
			cpu = a.Name
		}
	}
	doc := docSystem{
		CPUArch: textOrNull(cpu), CPUInfo: textOrNull(sys.Model), OS: textOrNull(name),
		OSVer: textOrNull(strings.TrimSpace(sys.Version + " " + sys.Build)), CPUMicrocodeVersion: microcode(d),
	}
	if n := sys.CPUs; n > 0 {
		doc.CPUCount = &n
	}
	return doc
}

// processUptime returns how long the process ran, in seconds.
func processUptime(d *dump.Dump) *int64 {
	if d.Process.Started.IsZero() || d.Time.IsZero() {
		return nil
	}
	seconds := max(0, int64(d.Time.Sub(d.Process.Started).Seconds()))
	return &seconds
}

// copiedFile returns a file that the dump's writer copied.
func copiedFile(d *dump.Dump, name string) []byte {
	for i := range d.Files {
		if d.Files[i].Name == name {
			return d.Files[i].Data
		}
	}
	return nil
}

// lsbRelease reads the name of the distribution. It knows the keys of both files, either of which
// the dump's writer may have copied; the first occurrence of a value counts.
func lsbRelease(d *dump.Dump) *docLSB {
	data := copiedFile(d, "/etc/lsb-release")
	if data == nil {
		return nil
	}
	doc := &docLSB{}
	fields := map[string]**string{
		"DISTRIB_ID": &doc.ID, "ID": &doc.ID, "DISTRIB_RELEASE": &doc.Release, "VERSION_ID": &doc.Release,
		"DISTRIB_CODENAME": &doc.Codename, "VERSION_CODENAME": &doc.Codename,
		"DISTRIB_DESCRIPTION": &doc.Description, "PRETTY_NAME": &doc.Description,
	}
	for line := range bytes.Lines(data) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(bytes.TrimRight(line, "\x00\n"))), "=")
		if to := fields[key]; to != nil && *to == nil {
			*to = textOrNull(strings.Trim(value, `"'`))
		}
	}
	return doc
}

// microcode returns the version of the first processor's microcode, from /proc/cpuinfo.
func microcode(d *dump.Dump) *string {
	for line := range bytes.Lines(copiedFile(d, "/proc/cpuinfo")) {
		key, value, _ := strings.Cut(string(line), ":")
		if strings.TrimSpace(key) != "microcode" {
			continue
		}
		digits, ok := strings.CutPrefix(strings.TrimSpace(value), "0x")
		v, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil {
			return nil
		}
		return textOrNull(fmt.Sprintf("%#x", v))
	}
	return nil
}
