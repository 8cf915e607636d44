package report

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dump"
)

// schema is the version of the fields that a Document has in addition to rust-minidump's schema.
// New fields do not change it.
const schema = 1

// Document is the walk of a dump in the schema that rust-minidump publishes
// (minidump-processor/json-schema.md), with the keys and the order of its output, so that consumers
// of one can read the other. Every key is always present, and null if the value is unknown.
// Addresses are hexadecimal strings, padded to the process's word size. Data that the schema lacks
// are under keys named "symtool".
//
// Differences from rust-minidump:
//   - modules and unloaded modules are in the order of their addresses, and main_module is the
//     index of the program in them, or null;
//   - an unknown id, version or name is null, not empty;
//   - os is null for a system for which we have no name, where rust-minidump prints its number;
//   - os_ver has no "0.0.0", which Breakpad writes on Linux instead of a version;
//   - adjusted_address has a null pointer only if the crash was at the address computed from it;
//   - memory_accesses has the words of the stack at the addresses where they are, with their sizes,
//     and nothing where a segment's base is unknown;
//   - function_offset and the like are those of the call, as in rust-minidump, but in a frame that
//     a signal interrupted they are those of its instruction.
//
// Always null, as our readers do not keep these values: cert_subject, handles, mac_boot_args,
// mac_crash_info, proc_limits, soft_errors, symbol_url.
type Document struct {
	CrashInfo      docCrash           `json:"crash_info"`
	CrashingThread *docCrashingThread `json:"crashing_thread"` // null if no thread crashed or requested the dump
	Handles        null               `json:"handles"`
	// LinuxMemoryMapCount is the number of the process's mappings, on Linux.
	LinuxMemoryMapCount *int        `json:"linux_memory_map_count"`
	LSBRelease          *docLSB     `json:"lsb_release"`
	MacBootArgs         null        `json:"mac_boot_args"`
	MacCrashInfo        null        `json:"mac_crash_info"`
	MainModule          *int        `json:"main_module"` // index in modules
	Modules             []docModule `json:"modules"`
	// ModulesContainsCertInfo is false: certificates are in Mozilla's crash reports, not in dumps.
	ModulesContainsCertInfo bool                `json:"modules_contains_cert_info"`
	PID                     *uint32             `json:"pid"`
	ProcLimits              null                `json:"proc_limits"`
	ProcessUptime           *int64              `json:"process_uptime"` // seconds
	SoftErrors              null                `json:"soft_errors"`
	Status                  string              `json:"status"` // "OK"
	Symtool                 docExtra            `json:"symtool"`
	SystemInfo              docSystem           `json:"system_info"`
	ThreadCount             int                 `json:"thread_count"`
	Threads                 []docThread         `json:"threads"` // the threads that were walked
	UnloadedModules         []docUnloadedModule `json:"unloaded_modules"`
}

// null is a field that is null in every document.
type null struct{}

func (null) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// docExtra is what we add to the schema for a dump.
type docExtra struct {
	Crash    *docCrashExtra `json:"crash"`   // null if nothing is known about it
	Dump     string         `json:"dump"`    // name of the dump
	Format   string         `json:"format"`  // "minidump", "ELF core"
	Handles  int            `json:"handles"` // number of handles that the dump lists, on Windows
	Kernel   *docKernel     `json:"kernel,omitempty"`
	Problems []string       `json:"problems"` // damage
	Schema   int            `json:"schema"`   // version of the added fields
	Verdict  any            `json:"verdict"`  // null without --verify
	Version  string         `json:"version"`  // of symtool
}

// docKernel is what a dump of a Linux kernel shows about its panic.
type docKernel struct {
	Log      []string `json:"log"`       // the last lines of the log
	Missing  []string `json:"missing"`   // why the CPU or the log is unknown
	PanicCPU *int     `json:"panic_cpu"` // index in threads, or null
}

// kernel returns the docKernel of k, or nil for the dump of a process.
func kernel(k *dump.Kernel) *docKernel {
	if k == nil {
		return nil
	}
	doc := &docKernel{Log: append([]string{}, k.Log...), Missing: []string{}}
	for _, why := range []string{k.CPUMissing, k.LogMissing} {
		if why != "" {
			doc.Missing = append(doc.Missing, why)
		}
	}
	if k.PanicCPU >= 0 {
		doc.PanicCPU = &k.PanicCPU
	}
	return doc
}

// DocumentOptions describe the contents of a Document.
type DocumentOptions struct {
	Dump    string // name of the dump
	Version string // of symtool
	Verdict any    // to be marshalled under symtool.verdict, or nil
	// Registers adds registers to all frames, not only to the topmost frame of crashing_thread.
	Registers bool
	Sources   *Sources   // for all frames; nil for none
	Variables *Variables // for all frames; nil for none
}

// NewDocument returns the document of a walk. The dump and the SymbolSet of the walk must remain
// open until the last use of the document.
func NewDocument(r *walk.Result, o DocumentOptions) *Document {
	m := &documentMaker{r: r, d: r.Dump, o: o, digits: 16}
	if a := m.d.Arch; a != nil && a.PtrSize == 4 {
		m.digits = 8
	}
	doc := &Document{
		LSBRelease: lsbRelease(m.d), Modules: m.modules(), ProcessUptime: processUptime(m.d), Status: "OK",
		SystemInfo: systemInfo(m.d), ThreadCount: len(r.Stacks), Threads: m.threads(), UnloadedModules: m.unloaded(),
		Symtool: docExtra{
			Dump: o.Dump, Format: m.d.Format, Handles: m.d.Handles, Kernel: kernel(m.d.Kernel), Problems: []string{},
			Schema: schema, Verdict: o.Verdict, Version: o.Version,
		},
	}
	for _, p := range m.d.Problems {
		doc.Symtool.Problems = append(doc.Symtool.Problems, p.String())
	}
	if m.d.Main >= 0 {
		doc.MainModule = &m.d.Main
	}
	if m.d.Process.HasID {
		doc.PID = &m.d.Process.ID
	}
	if m.d.System.OS.IsLinux() && len(m.d.Maps) > 0 {
		n := len(m.d.Maps)
		doc.LinuxMemoryMapCount = &n
	}
	crashed := m.crashedStack()
	if crashed >= 0 {
		doc.CrashingThread = m.crashingThread(crashed, doc.Threads[crashed])
	}
	doc.CrashInfo, doc.Symtool.Crash = m.crash(crashed)
	return doc
}

// documentMaker makes a document.
type documentMaker struct {
	r      *walk.Result
	d      *dump.Dump
	o      DocumentOptions
	digits int // of an address
}

// hex writes an address.
func (m *documentMaker) hex(v uint64) string { return paddedHex(v, m.digits) }

// paddedHex formats v in hexadecimal with at least digits digits, at most 16. fmt takes three times
// as long, and most of a document consists of addresses.
func paddedHex(v uint64, digits int) string {
	var text [2 + 16]byte
	at := len(text)
	for ; v != 0 || len(text)-at < digits; v >>= 4 {
		at--
		text[at] = "0123456789abcdef"[v&15]
	}
	return "0x" + string(text[at:])
}

func (m *documentMaker) hexPtr(v uint64) *string {
	s := m.hex(v)
	return &s
}

// textOrNull returns nil for "".
func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// docFailure is the document of a dump that could not be read. With its empty threads, compare
// reads it as a walk.
type docFailure struct {
	Status  string         `json:"status"` // "ERROR"
	Symtool docFailureCase `json:"symtool"`
	Threads []docThread    `json:"threads"` // none
}

type docFailureCase struct {
	Dump  string `json:"dump"`
	Error string `json:"error"`
}

// WriteFailure writes, on one line, a JSON object that replaces the Document of a dump that could
// not be read.
func WriteFailure(w io.Writer, dump string, err error) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	doc := docFailure{Status: "ERROR", Symtool: docFailureCase{Dump: dump, Error: err.Error()}, Threads: []docThread{}}
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err = w.Write(text.EscapeJSON(buf.Bytes()))
	return err
}
