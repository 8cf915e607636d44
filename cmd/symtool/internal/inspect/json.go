package inspect

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/walk/dump"
)

// inspectDocument is the document that inspect --format json prints. Fields may be added, but no
// field changes its meaning, its unit or its name. Fields that minidump-stackwalk also prints
// have the same names there.
type inspectDocument struct {
	Schema    int             `json:"schema"`
	Generator string          `json:"generator"`
	Status    int             `json:"status"` // exit status
	Dumps     []inspectedDump `json:"dumps"`  // one for each operand, in order
}

// inspectedDump is a dump. Addresses are strings: "0x" and all digits of the CPU.
type inspectedDump struct {
	File        string              `json:"file"`
	Error       string              `json:"error,omitempty"` // if set, the file could not be read and the other fields are missing
	Format      string              `json:"format,omitempty"`
	Time        string              `json:"time,omitempty"` // RFC 3339
	PID         *uint32             `json:"pid,omitempty"`
	Process     *inspectedProcess   `json:"process,omitempty"`
	System      *inspectedSystem    `json:"system_info,omitempty"`
	Crash       *inspectedCrash     `json:"crash_info,omitempty"`
	Assertion   *inspectedAssertion `json:"assertion,omitempty"`
	Requester   *uint32             `json:"requesting_thread_id,omitempty"`
	Writer      *uint32             `json:"dump_thread_id,omitempty"`
	ThreadCount int                 `json:"thread_count"`
	Threads     []inspectedThread   `json:"threads,omitempty"`
	MainModule  *int                `json:"main_module,omitempty"` // index in modules
	Modules     []inspectedModule   `json:"modules,omitempty"`     // by address
	Unloaded    []inspectedModule   `json:"unloaded_modules,omitempty"`

	Memory   *cli.JSONList[inspectedRange]   `json:"memory,omitempty"`
	Mappings *cli.JSONList[inspectedMapping] `json:"mappings,omitempty"`

	Linker      *inspectedLinker `json:"linker,omitempty"`
	Auxv        []inspectedAux   `json:"auxv,omitempty"`
	Files       []inspectedFile  `json:"files,omitempty"`
	ReportID    string           `json:"report_id,omitempty"`
	ClientID    string           `json:"client_id,omitempty"`
	Annotations []inspectedNote  `json:"annotations,omitempty"`
	Comment     string           `json:"comment,omitempty"`
	HandleCount int              `json:"handle_count,omitempty"`

	Streams *cli.JSONList[inspectedStream] `json:"streams,omitempty"`

	Problems []cli.ProblemSummary `json:"problems,omitempty"`
}

type inspectedProcess struct {
	Name    string   `json:"name,omitempty"`
	Parent  uint32   `json:"parent,omitempty"`
	UID     uint32   `json:"uid,omitempty"`
	GID     uint32   `json:"gid,omitempty"`
	Args    []string `json:"args,omitempty"`
	Env     []string `json:"environment,omitempty"`
	Started string   `json:"create_time,omitempty"` // RFC 3339
	User    float64  `json:"user_seconds,omitempty"`
	Kernel  float64  `json:"kernel_seconds,omitempty"`
}

type inspectedSystem struct {
	OS       string `json:"os"`
	Version  string `json:"os_ver"` // number and build
	Detail   string `json:"os_detail,omitempty"`
	CPU      string `json:"cpu_arch"`
	Model    string `json:"cpu_info,omitempty"`
	CPUCount int    `json:"cpu_count,omitempty"`
}

type inspectedCrash struct {
	Type      string            `json:"type"`
	Address   string            `json:"address,omitempty"`
	Thread    *int              `json:"crashing_thread,omitempty"` // index in threads
	ThreadID  uint32            `json:"thread_id"`
	Code      string            `json:"code"` // "" if unknown
	Flags     string            `json:"flags"`
	Params    []string          `json:"parameters,omitempty"`
	Syscall   *inspectedCall    `json:"system_call,omitempty"`
	Registers map[string]string `json:"registers,omitempty"`
}

// inspectedCall is the system call that was refused with SIGSYS.
type inspectedCall struct {
	CPU    string `json:"cpu_arch"` // the CPU whose calling convention was used
	Name   string `json:"name,omitempty"`
	Number uint32 `json:"number"`
}

type inspectedAssertion struct {
	Expression string `json:"expression"`
	Function   string `json:"function"`
	File       string `json:"file"`
	Line       uint32 `json:"line"`
	Type       uint32 `json:"type"`
}

type inspectedThread struct {
	ID        uint32            `json:"thread_id"`
	Name      string            `json:"thread_name,omitempty"`
	Registers map[string]string `json:"registers,omitempty"`
	Stack     *inspectedRange   `json:"stack,omitempty"`
	TEB       string            `json:"teb,omitempty"`
	Signal    int               `json:"signal,omitempty"`
	Suspend   uint32            `json:"suspend_count,omitempty"`
	Class     uint32            `json:"priority_class,omitempty"`
	Priority  uint32            `json:"priority,omitempty"`
}

type inspectedModule struct {
	Base      string `json:"base_addr"`
	End       string `json:"end_addr"` // address after the last byte
	File      string `json:"filename"` // without folders
	Path      string `json:"path"`
	DebugFile string `json:"debug_file,omitempty"` // without folders
	DebugPath string `json:"debug_path,omitempty"`
	DebugID   string `json:"debug_id,omitempty"`
	CodeID    string `json:"code_id,omitempty"`
	BuildID   string `json:"build_id,omitempty"`
	Version   string `json:"version,omitempty"`
	Product   string `json:"product_version,omitempty"`
	Time      string `json:"timestamp,omitempty"`
	Checksum  string `json:"checksum,omitempty"`
	Bias      string `json:"bias,omitempty"`
}

type inspectedRange struct {
	Base string `json:"base_addr"`
	End  string `json:"end_addr"` // address after the last byte
	Size uint64 `json:"size"`
}

type inspectedMapping struct {
	Base         string `json:"base_addr"`
	End          string `json:"end_addr"` // address after the last byte
	Size         uint64 `json:"size"`
	Permissions  string `json:"permissions"` // as in /proc/PID/maps
	Offset       string `json:"offset,omitempty"`
	Device       string `json:"device,omitempty"`
	Inode        uint64 `json:"inode,omitempty"`
	Path         string `json:"path,omitempty"`
	State        string `json:"state,omitempty"`
	Type         string `json:"type,omitempty"`
	Protect      string `json:"protect,omitempty"`
	AllocBase    string `json:"allocation_base,omitempty"`
	AllocProtect string `json:"allocation_protect,omitempty"`
}

type inspectedLinker struct {
	Version uint32             `json:"version"`
	Break   string             `json:"break"`
	Base    string             `json:"base"`
	Dynamic string             `json:"dynamic"`
	Maps    []inspectedLinkMap `json:"link_maps,omitempty"`
}

type inspectedLinkMap struct {
	Addr    string `json:"addr"`
	Name    string `json:"name"`
	Dynamic string `json:"dynamic"`
}

type inspectedAux struct {
	Key   uint64 `json:"key"`
	Value string `json:"value"`
}

type inspectedFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type inspectedNote struct {
	Module string `json:"module,omitempty"`
	Key    string `json:"key"`
	Value  string `json:"value"`
}

type inspectedStream struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Offset string `json:"offset"`
	Size   uint64 `json:"size"`
}

// jsonDump turns a dump into its JSON form.
type jsonDump struct{ *dump.Dump }

func newInspectedDump(file string, dumped *dump.Dump) inspectedDump {
	d := jsonDump{dumped}
	out := inspectedDump{
		File: file, Format: d.Format, Time: timeText(d.Time), Process: d.process(),
		System: &inspectedSystem{
			d.System.OS.String(), cli.Spaced(d.System.Version, d.System.Build), d.System.Detail,
			d.CPU(), d.System.Model, d.System.CPUs,
		},
		Crash: d.crash(), ThreadCount: len(d.Threads), Threads: d.threads(),
		Modules: d.modules(d.Dump.Modules), Unloaded: d.modules(d.Dump.Unloaded),
		Memory: d.memory(), Mappings: d.mappings(), Linker: d.linker(),
		ReportID: d.ReportID, ClientID: d.ClientID, Comment: d.Comment, HandleCount: d.Handles,
	}
	if d.Process.HasID {
		out.PID = &d.Process.ID
	}
	if a := d.Assertion; a != nil {
		out.Assertion = &inspectedAssertion{a.Expression, a.Function, a.File, a.Line, a.Type}
	}
	if d.HasRequester {
		out.Requester = &d.Requester
	}
	if d.HasWriter {
		out.Writer = &d.Writer
	}
	if d.Main >= 0 {
		out.MainModule = &d.Main
	}
	d.rest(&out)
	return out
}

// rest fills in the lists that need no further processing.
func (d jsonDump) rest(out *inspectedDump) {
	for _, a := range d.Auxv {
		out.Auxv = append(out.Auxv, inspectedAux{a.Key, d.addr(a.Value)})
	}
	for _, f := range d.Files {
		out.Files = append(out.Files, inspectedFile{f.Name, string(f.Data)})
	}
	for _, a := range d.Annotations {
		out.Annotations = append(out.Annotations, inspectedNote{a.Module, a.Key, a.Value})
	}
	parts := d.Parts
	out.Streams = cli.NewJSONList(len(parts), func(i int) inspectedStream {
		p := &parts[i]
		return inspectedStream{hexText(uint64(p.Type)), p.Name, hexText(p.Offset), p.Size}
	})
	for _, p := range d.Problems {
		out.Problems = append(out.Problems, cli.NewProblemSummary(p))
	}
}

func (d jsonDump) addr(v uint64) string { return addr(d.Dump, v) }

// known formats an address, or returns "" for 0.
func (d jsonDump) known(v uint64) string {
	if v == 0 {
		return ""
	}
	return d.addr(v)
}

func (d jsonDump) span(r dump.Range) inspectedRange {
	return inspectedRange{d.addr(r.Addr), d.addr(r.Addr + r.Size), r.Size}
}

func hexText(v uint64) string { return "0x" + strconv.FormatUint(v, 16) }

// hexKnown formats a number, or returns "" for 0.
func hexKnown(v uint64) string {
	if v == 0 {
		return ""
	}
	return hexText(v)
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func (d jsonDump) process() *inspectedProcess {
	p := &d.Dump.Process
	return &inspectedProcess{p.Name, p.Parent, p.UID, p.GID, p.Args, p.Env, timeText(p.Started), p.User.Seconds(), p.Kernel.Seconds()}
}

func (d jsonDump) crash() *inspectedCrash {
	c := d.Dump.Crash
	if c == nil {
		return nil
	}
	out := &inspectedCrash{Type: d.Reason(), ThreadID: c.Thread, Code: hexText(uint64(c.Code)), Flags: hexText(uint64(c.Flags)), Registers: d.registers(c.Context)}
	if c.Unknown {
		out.Code, out.Flags = "", ""
	}
	if c.HasAddress {
		out.Address = d.addr(c.Address)
	}
	if i := d.CrashedThread(); i >= 0 {
		out.Thread = &i
	}
	for _, p := range c.Params {
		out.Params = append(out.Params, hexText(p))
	}
	if call := c.Syscall; call != nil {
		out.Syscall = &inspectedCall{call.CPU(), call.Name(), call.Number}
	}
	return out
}

// registers returns the known registers by name, without "$".
func (d jsonDump) registers(c *dump.Context) map[string]string {
	if c == nil {
		return nil
	}
	regs := map[string]string{}
	for i, r := range c.Arch.Regs {
		if v, ok := c.At(i); ok {
			regs[strings.TrimPrefix(r.Name, "$")] = d.addr(v)
		}
	}
	for _, w := range c.Wide() {
		regs[w.Name] = wideText(w.Value)
	}
	return regs
}

func (d jsonDump) threads() (list []inspectedThread) {
	for i := range d.Dump.Threads {
		t := &d.Dump.Threads[i]
		out := inspectedThread{
			ID: t.ID, Name: t.Name, Registers: d.registers(t.Context), TEB: d.known(t.TEB), Signal: t.Signal,
			Suspend: t.Suspend, Class: t.Class, Priority: t.Prio,
		}
		if t.Stack.Size > 0 {
			span := d.span(t.Stack)
			out.Stack = &span
		}
		list = append(list, out)
	}
	return list
}

func (d jsonDump) modules(modules []dump.Module) (list []inspectedModule) {
	for i := range modules {
		m := &modules[i]
		list = append(list, inspectedModule{
			Base: d.addr(m.Addr), End: d.addr(m.Addr + m.Size), File: d.System.OS.Base(m.Path), Path: m.Path,
			DebugFile: m.DebugFile, DebugPath: m.DebugPath, DebugID: m.DebugID, CodeID: m.CodeID,
			BuildID: hex.EncodeToString(m.BuildID), Version: m.Version, Product: m.Product,
			Time: hexKnown(uint64(m.Time)), Checksum: hexKnown(uint64(m.Checksum)), Bias: d.known(m.Bias),
		})
	}
	return list
}

func (d jsonDump) memory() *cli.JSONList[inspectedRange] {
	ranges := make([]dump.Range, len(d.Dump.Memory.Regions))
	for i := range ranges {
		r := &d.Dump.Memory.Regions[i]
		ranges[i] = dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))}
	}
	d = d.bare()
	return cli.NewJSONList(len(ranges), func(i int) inspectedRange { return d.span(ranges[i]) })
}

// bare returns a jsonDump that formats addresses in the same way, for lists that are printed
// after the dump is closed.
func (d jsonDump) bare() jsonDump { return jsonDump{&dump.Dump{Arch: d.Arch}} }

func (d jsonDump) mappings() *cli.JSONList[inspectedMapping] {
	maps := d.Maps
	d = d.bare()
	return cli.NewJSONList(len(maps), func(i int) inspectedMapping {
		m := &maps[i]
		return inspectedMapping{
			Base: d.addr(m.Addr), End: d.addr(m.Addr + m.Size), Size: m.Size, Permissions: permissions(m), Offset: hexKnown(m.Offset), Device: m.Device,
			Inode: m.Inode, Path: m.Path, State: hexKnown(uint64(m.State)), Type: hexKnown(uint64(m.Type)),
			Protect: hexKnown(uint64(m.Protect)), AllocBase: d.known(m.AllocBase), AllocProtect: hexKnown(uint64(m.AllocProtect)),
		}
	})
}

func (d jsonDump) linker() *inspectedLinker {
	l := d.Dump.Linker
	if l == nil {
		return nil
	}
	out := &inspectedLinker{Version: l.Version, Break: d.addr(l.Break), Base: d.addr(l.Base), Dynamic: d.addr(l.Dynamic)}
	for _, m := range l.Maps {
		out.Maps = append(out.Maps, inspectedLinkMap{d.addr(m.Addr), m.Name, d.addr(m.Dynamic)})
	}
	return out
}
