package minidump

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

// readDump reads a dump of the shared data that is not damaged.
func readDump(t *testing.T, path ...string) *dump.Dump {
	t.Helper()
	file := testenv.Shared(t, append([]string{"data"}, path...)...)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(data, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Problems {
		t.Error(p)
	}
	return d
}

// notInModel lists fields of Breakpad's minidump_dump that the model cannot represent, with the reasons.
var notInModel = map[string]string{
	"version": "checked, not kept", "stream_count": "is the number of parts", "stream_directory_rva": "layout of the file",
	"checksum": "no writer sets that of the header", "flags": "what the writer was asked for",
	"stack.memory.rva": "layout of the file", "thread_context.data_size": "layout of the file", "thread_context.rva": "layout of the file",
	"memory.rva": "layout of the file", "module_name_rva": "layout of the file", "cv_record.data_size": "layout of the file",
	"cv_record.rva": "layout of the file", "misc_record.data_size": "layout of the file", "misc_record.rva": "layout of the file",
	"csd_version_rva": "layout of the file", "size_of_info": "layout of the file", "flags1": "tells which of the other fields count",
	"validity": "tells which of the other fields count", "context_flags": "tells which registers are known",
	"(cv_record).cv_signature": "layout of the file", "(misc_record)": "(null) everywhere",
	"dr0": debugRegister, "dr1": debugRegister, "dr2": debugRegister, "dr3": debugRegister, "dr6": debugRegister, "dr7": debugRegister,
	"float_save.control_word": fsave, "float_save.status_word": fsave, "float_save.tag_word": fsave, "float_save.error_offset": fsave,
	"float_save.error_selector": fsave, "float_save.data_offset": fsave, "float_save.data_selector": fsave,
	"float_save.register_area[80]": fsave, "float_save.cr0_npx_state": fsave,
	"version_info.signature": versionRest, "version_info.struct_version": versionRest, "version_info.file_flags_mask": versionRest,
	"version_info.file_flags": versionRest, "version_info.file_os": versionRest, "version_info.file_type": versionRest,
	"version_info.file_subtype": versionRest, "version_info.file_date": versionRest,
	"product_type": systemRest, "suite_mask": systemRest, "cpu.x86_cpu_info.feature_information": systemRest,
	"cpu.x86_cpu_info.amd_extended_cpu_features": systemRest, "cpu.x86_cpu_info.version_information": systemRest,
	"exception_record.exception_record": "0: no exception within the exception",
}

const (
	debugRegister = "debug registers are no part of a thread's state that a walker or an ELF core has"
	fsave         = "the same state as FXSAVE has, which is kept (extended_registers)"
	versionRest   = "of a file's version only the numbers are kept"
	systemRest    = "editions of Windows and CPUID's bits are not kept: vendor, family, model and stepping are"
)

var dumpField = regexp.MustCompile(`^  (\S.*?) += (.*)$`)

// TestBreakpad compares every field of what Breakpad's minidump_dump prints.
func TestBreakpad(t *testing.T) {
	text, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", "minidump2.dump.out"))
	if err != nil {
		t.Fatal(err)
	}
	d := readDump(t, "minidumps", "breakpad", "minidump2.dmp")
	b := breakpad{d: d, t: t, thread: -1, module: -1, region: -1, part: -1}
	for line := range strings.Lines(string(text)) {
		b.line(strings.TrimSuffix(line, "\n"))
	}
	t.Logf("%d fields compared, %d are not in the model", b.compared, b.skipped)
	if b.compared < 310 || b.module != len(d.Modules)-1 || b.thread != len(d.Threads)-1 || b.region != 2 || b.part != 8 || b.stacks != 2 {
		t.Errorf("compared too little: %+v", b)
	}
}

// breakpad checks minidump_dump's text.
type breakpad struct {
	d     *dump.Dump
	t     *testing.T
	block string
	// Indices of the current entries: in threads, in modules in the file's order,
	// in regions, in parts.
	thread, module, region, part int
	addr                         uint64 // of the current region
	stack                        bool
	stacks, compared, skipped    int
}

func (b *breakpad) line(line string) {
	m := dumpField.FindStringSubmatch(line)
	switch {
	case line == "Stack" || line == "Memory":
		b.stack = true
	case b.stack && strings.HasPrefix(line, "0x"):
		b.memory(line[2:])
	case m != nil:
		b.field(m[1], m[2])
	case strings.HasPrefix(line, "MD") || strings.HasPrefix(line, "Minidump"):
		b.block = line
		switch line {
		case "MDRawThread":
			b.thread++
		case "MDRawModule":
			b.module++
		case "MDMemoryDescriptor":
			b.region++
		case "MDRawDirectory":
			b.part++
		}
	}
}

// memory compares the bytes of a stack or a region.
func (b *breakpad) memory(text string) {
	b.stack = false
	want, err := hex.DecodeString(text)
	if err != nil {
		b.t.Fatal(err)
	}
	addr := b.addr
	if b.block == "MDRawContextX86" {
		addr = b.d.Threads[b.thread].Stack.Addr
		b.stacks++
	}
	if got := b.d.Memory.Bytes(addr, len(want)); !bytes.Equal(got, want) {
		b.t.Errorf("memory at %#x differs", addr)
	}
	b.compared++
}

func (b *breakpad) field(name, value string) {
	if notInModel[name] != "" && !(b.block == "MDRawModule" && name == "checksum") {
		b.skipped++
		return
	}
	value, _, _ = strings.Cut(value, " (")
	value = strings.Trim(value, `"`)
	if strings.HasPrefix(value, "0x") && strings.Contains(value, " 20") {
		value, _, _ = strings.Cut(value, " ") // a date follows
	}
	got, ok := b.ours(name)
	if !ok {
		b.t.Errorf("%s: field %q (%s) is not compared", b.block, name, value)
		return
	}
	b.compared++
	if number, err := strconv.ParseUint(value, 0, 64); err == nil && reflectUint(got) != nil {
		if *reflectUint(got) != number {
			b.t.Errorf("%s, thread %d, module %d: %s is %#x, want %s", b.block, b.thread, b.module, name, got, value)
		}
		return
	}
	if fmt.Sprint(got) != value {
		b.t.Errorf("%s, thread %d, module %d: %s is %v, want %s", b.block, b.thread, b.module, name, got, value)
	}
}

func reflectUint(v any) *uint64 {
	var n uint64
	switch v := v.(type) {
	case uint64:
		n = v
	case uint32:
		n = uint64(v)
	case int:
		n = uint64(v)
	case int64:
		n = uint64(v)
	default:
		return nil
	}
	return &n
}

// ours returns the value of a field in the model.
func (b *breakpad) ours(name string) (any, bool) {
	d := b.d
	var fields map[string]any
	switch b.block {
	case "MDRawHeader":
		fields = map[string]any{"signature": uint32(0x504d444d), "time_date_stamp": d.Time.Unix()}
	case "MDRawDirectory":
		p := d.Parts[b.part]
		fields = map[string]any{"stream_type": p.Type, "location.data_size": p.Size, "location.rva": p.Offset}
	case "MinidumpThreadList":
		fields = map[string]any{"thread_count": len(d.Threads)}
	case "MDRawThread":
		th := d.Threads[b.thread]
		fields = map[string]any{"thread_id": th.ID, "suspend_count": th.Suspend, "priority_class": th.Class, "priority": th.Prio, "teb": th.TEB,
			"stack.start_of_memory_range": th.Stack.Addr, "stack.memory.data_size": th.Stack.Size}
	case "MDRawContextX86":
		return b.register(name)
	case "MinidumpModuleList":
		fields = map[string]any{"module_count": len(d.Modules)}
	case "MDRawModule":
		return b.moduleField(name)
	case "MinidumpMemoryList":
		fields = map[string]any{"region_count": len(d.Memory.Regions)}
	case "MDMemoryDescriptor":
		return b.regionField(name)
	case "MDException":
		c := d.Crash
		fields = map[string]any{"thread_id": c.Thread, "exception_record.exception_code": c.Code, "exception_record.exception_flags": c.Flags,
			// The address of an access violation is the one that was accessed; the instruction's is in the registers.
			"exception_record.exception_address": c.Context.PC(), "exception_record.number_parameters": len(c.Params),
			"exception_record.exception_information[ 0]": c.Params[0], "exception_record.exception_information[ 1]": c.Params[1]}
	case "MDRawSystemInfo":
		return b.systemField(name)
	case "MDRawMiscInfo":
		p := d.Process
		fields = map[string]any{"process_id": p.ID, "process_create_time": p.Started.Unix(), "process_user_time": int64(p.User), "process_kernel_time": int64(p.Kernel)}
	case "MDRawBreakpadInfo":
		fields = map[string]any{"dump_thread_id": d.Writer, "requesting_thread_id": d.Requester}
	}
	v, ok := fields[name]
	return v, ok
}

// register compares a register of the current thread, or of the crash after the last thread.
func (b *breakpad) register(name string) (any, bool) {
	c := b.d.Threads[b.thread].Context
	if b.region >= 0 {
		c = b.d.Crash.Context
	}
	if name == "extended_registers[512]" {
		return "0x" + hex.EncodeToString(c.Vector), true
	}
	v, ok := c.Get("$" + name)
	return v, ok
}

func (b *breakpad) moduleField(name string) (any, bool) {
	m := b.moduleOf()
	version := func(text string) string {
		var a, bb, c, d int
		fmt.Sscanf(text, "%d.%d.%d.%d", &a, &bb, &c, &d)
		return fmt.Sprintf("%#x:%#x", a<<16|bb, c<<16|d)
	}
	guid, age := m.DebugID[:32], m.DebugID[32:]
	dashed := strings.ToLower(strings.Join([]string{guid[:8], guid[8:12], guid[12:16], guid[16:20], guid[20:]}, "-"))
	fields := map[string]any{
		"base_of_image": m.Addr, "size_of_image": m.Size, "checksum": m.Checksum, "time_date_stamp": m.Time,
		"version_info.file_version": version(m.Version), "version_info.product_version": version(m.Product),
		"(code_file)": m.Path, "(cv_record).signature": dashed, "(cv_record).age": age, "(cv_record).pdb_file_name": m.DebugPath,
		"(debug_file)": m.DebugPath, "(debug_identifier)": m.DebugID, "(version)": m.Version,
		"(code_identifier)": fmt.Sprintf("%08X%s", m.Time, m.CodeID[8:]), // Breakpad's is half in upper case
	}
	v, ok := fields[name]
	return v, ok
}

// moduleOf finds the current module: ours are sorted by address.
func (b *breakpad) moduleOf() *dump.Module {
	order := []string{"test_app.exe", "ntdll.dll", "kernel32.dll", "ole32.dll", "advapi32.dll", "rpcrt4.dll", "gdi32.dll", "user32.dll",
		"msvcrt.dll", "imm32.dll", "dbghelp.dll", "version.dll", "psapi.dll"}
	i := slices.IndexFunc(b.d.Modules, func(m dump.Module) bool { return dump.Windows.Base(m.Path) == order[b.module] })
	return &b.d.Modules[i]
}

func (b *breakpad) regionField(name string) (any, bool) {
	places := []uint64{0x7c90eb14, 0x12f31c, 0x97f6e8} // in the order of the file
	b.addr = places[b.region]
	r := b.d.Memory.Find(b.addr)
	fields := map[string]any{"start_of_memory_range": r.Addr, "memory.data_size": len(r.Data)}
	v, ok := fields[name]
	return v, ok
}

func (b *breakpad) systemField(name string) (any, bool) {
	s := b.d.System
	var major, minor, build, family, model, stepping int
	fmt.Sscanf(s.Version, "%d.%d.%d", &major, &minor, &build)
	var vendor string
	fmt.Sscanf(s.Model, "%s family %d model %d stepping %d", &vendor, &family, &model, &stepping)
	word := func(i int) uint32 {
		v := vendor[4*i:]
		return uint32(v[0]) | uint32(v[1])<<8 | uint32(v[2])<<16 | uint32(v[3])<<24
	}
	fields := map[string]any{
		"processor_architecture": map[string]int{"x86": 0}[s.CPU], "processor_level": family, "processor_revision": model<<8 | stepping,
		"number_of_processors": s.CPUs, "major_version": major, "minor_version": minor, "build_number": build,
		"platform_id": map[dump.OS]int{dump.Windows: 2}[s.OS], "(csd_version)": s.Build, "(cpu_vendor)": vendor,
		"cpu.x86_cpu_info.vendor_id[0]": word(0), "cpu.x86_cpu_info.vendor_id[1]": word(1), "cpu.x86_cpu_info.vendor_id[2]": word(2),
	}
	v, ok := fields[name]
	return v, ok
}

// stackwalkJSON is what is compared of minidump-stackwalk's JSON.
type stackwalkJSON struct {
	PID     uint32 `json:"pid"`
	Threads []struct {
		ID     uint32  `json:"thread_id"`
		Name   *string `json:"thread_name"`
		Frames []struct {
			Offset    string            `json:"offset"`
			Registers map[string]string `json:"registers"`
		} `json:"frames"`
	} `json:"threads"`
	Crash struct {
		Address string `json:"address"`
		Thread  int    `json:"crashing_thread"`
		Type    string `json:"type"`
	} `json:"crash_info"`
	Uptime   int64 `json:"process_uptime"`
	Count    int   `json:"thread_count"`
	Crashing struct {
		ID     uint32  `json:"thread_id"`
		Name   *string `json:"thread_name"`
		Index  int     `json:"threads_index"`
		Frames []struct {
			Registers map[string]string `json:"registers"`
		} `json:"frames"`
	} `json:"crashing_thread"`
	System struct {
		CPU      string `json:"cpu_arch"`
		CPUCount int    `json:"cpu_count"`
		CPUInfo  string `json:"cpu_info"`
		OS       string `json:"os"`
		Version  string `json:"os_ver"`
	} `json:"system_info"`
	Main    int `json:"main_module"`
	Modules []struct {
		Base      string  `json:"base_addr"`
		End       string  `json:"end_addr"`
		CodeID    string  `json:"code_id"`
		DebugFile string  `json:"debug_file"`
		DebugID   string  `json:"debug_id"`
		File      string  `json:"filename"`
		Version   *string `json:"version"`
	} `json:"modules"`
	Unloaded []any `json:"unloaded_modules"`
}

// TestStackwalk compares with minidump-stackwalk's output.
func TestStackwalk(t *testing.T) {
	for _, c := range []struct{ dump, expected string }{
		{"test.dmp", "json-pretty.txt"}, {"test.dmp", "json-pretty-symbols.txt"}, {"pipeline-inlines-macos-segv.dmp", "macos_inlines_json_pretty.txt"},
	} {
		t.Run(c.expected, func(t *testing.T) {
			d := readDump(t, "minidumps", "rust-minidump", c.dump)
			text, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", c.expected))
			if err != nil {
				t.Fatal(err)
			}
			var want stackwalkJSON
			if err := json.Unmarshal(text[bytes.IndexByte(text, '{'):], &want); err != nil {
				t.Fatal(err)
			}
			s := stackwalk{d: d, t: t}
			s.head(&want)
			s.threads(&want)
			s.modules(&want)
			t.Logf("%d fields of %d threads and %d modules compared", s.compared, len(want.Threads), len(want.Modules))
			if s.compared < 100 {
				t.Errorf("compared %d fields only", s.compared)
			}
		})
	}
}

type stackwalk struct {
	d        *dump.Dump
	t        *testing.T
	compared int
}

func (s *stackwalk) equal(what, got, want string) {
	s.compared++
	if got != want {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (s *stackwalk) addr(v uint64) string { return fmt.Sprintf("0x%0*x", 2*s.d.Arch.PtrSize, v) }

func (s *stackwalk) head(want *stackwalkJSON) {
	d := s.d
	s.equal("pid", fmt.Sprint(d.Process.ID), fmt.Sprint(want.PID))
	// rust-minidump names the systems as Windows NT and Mac OS X.
	s.equal("os", map[dump.OS]string{dump.Windows: "Windows NT", dump.MacOS: "Mac OS X"}[d.System.OS], want.System.OS)
	s.equal("version", strings.TrimSpace(d.System.Version+" "+d.System.Build), want.System.Version)
	s.equal("cpu", d.System.CPU, want.System.CPU)
	s.equal("cpu info", d.System.Model, want.System.CPUInfo)
	s.equal("cpus", fmt.Sprint(d.System.CPUs), fmt.Sprint(want.System.CPUCount))
	s.equal("reason", d.Reason(), want.Crash.Type)
	s.equal("address", s.addr(d.Crash.Address), want.Crash.Address)
	s.equal("thread", fmt.Sprint(d.CrashedThread()), fmt.Sprint(want.Crash.Thread))
	s.equal("threads", fmt.Sprint(len(d.Threads)), fmt.Sprint(len(want.Threads)))
	s.equal("modules", fmt.Sprint(len(d.Modules)), fmt.Sprint(len(want.Modules)))
	s.equal("unloaded modules", fmt.Sprint(len(d.Unloaded)), fmt.Sprint(len(want.Unloaded)))
	s.equal("threads", fmt.Sprint(len(d.Threads)), fmt.Sprint(want.Count))
	s.equal("seconds", fmt.Sprint(int64(d.Time.Sub(d.Process.Started).Seconds())), fmt.Sprint(want.Uptime))
	s.equal("crashed thread", fmt.Sprint(d.Crash.Thread, d.CrashedThread()), fmt.Sprint(want.Crashing.ID, want.Crashing.Index))
	if want.Crashing.Name != nil {
		s.equal("crashed thread", d.Threads[d.CrashedThread()].Name, *want.Crashing.Name)
	}
	s.registers("crash", d.Crash.Context, want.Crashing.Frames[0].Registers)
}

// notCompared lists fields of minidump-stackwalk's JSON that do not describe the dump or
// that occur for none of the dumps, by the object that they are in.
var notCompared = map[string]string{
	".status": "of the program", ".modules_contains_cert_info": "of another file", ".soft_errors": "none",
	".handles": "none", ".linux_memory_map_count": "none", ".lsb_release": "none", ".mac_boot_args": "none",
	".mac_crash_info": "none", ".proc_limits": "none",
	"modules.loaded_symbols": "of symbol files", "modules.missing_symbols": "of symbol files",
	"modules.corrupt_symbols": "of symbol files", "modules.symbol_url": "of symbol files", "modules.cert_subject": "of another file",
	"crash_info.instruction": "disassembled", "crash_info.memory_accesses": "disassembled", "crash_info.adjusted_address": "disassembled",
	"crash_info.instruction_pointer_update": "disassembled", "crash_info.possible_bit_flips": "guessed",
	"crash_info.crash_inconsistencies": "guessed", "crash_info.assertion": "none",
	"system_info.cpu_microcode_version": "none",
	"threads.frame_count":               "of the stack", "threads.last_error_value": "of the TEB, which no dump has",
	"crashing_thread.frame_count": "of the stack", "crashing_thread.last_error_value": "of the TEB, which no dump has",
}

// Each field of minidump-stackwalk's JSON, except those of frames, is compared or is on the list; a
// field without a value is null.
func TestStackwalkFields(t *testing.T) {
	compared := " .pid .crash_info .crashing_thread .main_module .modules .process_uptime .system_info .thread_count .threads .unloaded_modules " +
		"crash_info.address crash_info.crashing_thread crash_info.type threads.thread_id threads.thread_name threads.frames " +
		"crashing_thread.thread_id crashing_thread.thread_name crashing_thread.threads_index crashing_thread.frames " +
		"system_info.cpu_arch system_info.cpu_count system_info.cpu_info system_info.os system_info.os_ver " +
		"modules.base_addr modules.end_addr modules.code_id modules.debug_file modules.debug_id modules.filename modules.version "
	for _, name := range []string{"json-pretty.txt", "json-pretty-symbols.txt", "macos_inlines_json_pretty.txt"} {
		text, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", name))
		if err != nil {
			t.Fatal(err)
		}
		var top map[string]any
		if err := json.Unmarshal(text[bytes.IndexByte(text, '{'):], &top); err != nil {
			t.Fatal(err)
		}
		check := func(object string, fields map[string]any) {
			for field, value := range fields {
				key := object + "." + field
				why, ok := notCompared[key]
				if !ok && !strings.Contains(compared, " "+key+" ") || why == "none" && value != nil {
					t.Errorf("%s: %s is %v: not compared", name, key, value)
				}
			}
		}
		check("", top)
		for _, object := range []string{"crash_info", "crashing_thread", "system_info", "modules", "threads"} {
			list, ok := top[object].([]any)
			if !ok {
				list = []any{top[object]}
			}
			for _, fields := range list {
				check(object, fields.(map[string]any))
			}
		}
	}
}

func (s *stackwalk) registers(what string, c *dump.Context, want map[string]string) {
	for name, value := range want {
		got, ok := c.Get("$" + name)
		if !ok {
			s.t.Errorf("%s: %s is not known", what, name)
		}
		s.equal(what+": "+name, s.addr(got), value)
	}
}

// The innermost frame has the thread's registers or, in the crashed thread, those at the
// crash.
func (s *stackwalk) threads(want *stackwalkJSON) {
	for i, w := range want.Threads {
		th := &s.d.Threads[i]
		what := fmt.Sprintf("thread %d", i)
		s.equal(what, fmt.Sprint(th.ID), fmt.Sprint(w.ID))
		if w.Name != nil {
			s.equal(what, th.Name, *w.Name)
		}
		if len(w.Frames) == 0 {
			continue
		}
		context := th.Context
		if i == s.d.CrashedThread() {
			context = s.d.Crash.Context
		}
		s.equal(what, s.addr(context.PC()), w.Frames[0].Offset)
		s.registers(what, context, w.Frames[0].Registers)
	}
}

func (s *stackwalk) modules(want *stackwalkJSON) {
	byAddr := map[string]*dump.Module{}
	for i := range s.d.Modules {
		byAddr[s.addr(s.d.Modules[i].Addr)] = &s.d.Modules[i]
	}
	for i, w := range want.Modules {
		m := byAddr[w.Base]
		if m == nil {
			s.t.Errorf("no module at %s", w.Base)
			continue
		}
		s.equal(w.File, s.addr(m.Addr+m.Size), w.End)
		s.equal(w.File, s.d.System.OS.Base(m.Path), w.File)
		s.equal(w.File, m.DebugFile, w.DebugFile)
		s.equal(w.File, m.DebugID, w.DebugID)
		s.equal(w.File, m.CodeID, w.CodeID)
		if w.Version != nil {
			s.equal(w.File, m.Version, *w.Version)
		}
		if i == want.Main {
			s.equal("main", s.addr(s.d.Modules[s.d.Main].Addr), w.Base)
		}
	}
}

// The human texts of minidump-stackwalk name modules with versions.
func TestStackwalkText(t *testing.T) {
	line := regexp.MustCompile(`^0x([0-9a-f]+) - 0x([0-9a-f]+)  (\S+)  (\S+)(  \(main\))?`)
	for _, c := range []struct{ dump, expected string }{{"test.dmp", "human.txt"}, {"pipeline-inlines-macos-segv.dmp", "macos_inlines_human.txt"}} {
		d := readDump(t, "minidumps", "rust-minidump", c.dump)
		text, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "rust-minidump", "expected", c.expected))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for l := range strings.Lines(string(text)) {
			m := line.FindStringSubmatch(l)
			if m == nil {
				continue
			}
			addr, _ := strconv.ParseUint(m[1], 16, 64)
			last, _ := strconv.ParseUint(m[2], 16, 64)
			i := d.ModuleAt(addr)
			if i < 0 {
				t.Fatalf("no module at %#x", addr)
			}
			mod := d.Modules[i]
			version := mod.Version
			if version == "" {
				version = "???"
			}
			if mod.Addr != addr || mod.Addr+mod.Size-1 != last || d.System.OS.Base(mod.Path) != m[3] || version != m[4] || (i == d.Main) != (m[5] != "") {
				t.Errorf("%s: %+v, want %s", c.dump, mod, l)
			}
			n++
		}
		if n != len(d.Modules) {
			t.Errorf("%s: %d modules in the text, want %d", c.dump, n, len(d.Modules))
		}
	}
}

// TestKernelCores compares the minidump of each crash with the kernel's core of
// the same crash, as eu-readelf prints its notes.
func TestKernelCores(t *testing.T) {
	testenv.Oracle(t)
	dir := testenv.Shared(t, "data", "crashes")
	cases, _ := filepath.Glob(filepath.Join(dir, "*", "dump.dmp"))
	if len(cases) < 9 {
		t.Fatalf("%d crashes", len(cases))
	}
	for _, file := range cases {
		name := filepath.Base(filepath.Dir(file))
		k := kernelCore{d: readDump(t, "crashes", name, "dump.dmp"), t: t, name: name}
		for _, line := range oracle.EUReadelf(t, filepath.Join(dir, name, "core"), "-n") {
			k.line(line)
		}
		t.Logf("%s: %d registers of %d threads, %d entries of the auxiliary vector, %d modules compared", name, k.regs, k.threads, k.aux, len(k.modules))
		if k.threads != len(k.d.Threads) || k.regs != 24*k.threads-5 || k.aux < 15 || len(k.modules) < 6 || k.facts != 5 {
			t.Errorf("%s: compared too little: %+v", name, k)
		}
	}
}

type kernelCore struct {
	d       *dump.Dump
	t       *testing.T
	name    string
	context *dump.Context // of the thread whose notes are read
	inRegs  bool
	modules map[string]bool // paths that were compared

	threads, regs, aux, facts int
}

var (
	notePID   = regexp.MustCompile(`^    pid: (\d+), ppid: (\d+), pgrp`)
	noteInfo  = regexp.MustCompile(`^    uid: (\d+), gid: (\d+), pid: (\d+), ppid: (\d+)`)
	noteName  = regexp.MustCompile(`^    fname: (\S+), psargs: (.*?) *$`)
	noteSig   = regexp.MustCompile(`^    si_signo: (\d+), si_errno: 0, si_code: (-?\d+)`)
	noteFault = regexp.MustCompile(`fault address: (0x[0-9a-f]+|0)$`)
	noteReg   = regexp.MustCompile(`(\S+): +(0x[0-9a-f]+|-?\d+)`)
	noteFile  = regexp.MustCompile(`^      ([0-9a-f]+)-([0-9a-f]+) 00000000 \d+ +(/.*)$`)
	noteAux   = regexp.MustCompile(`^    (PAGESZ|CLKTCK|PHDR|PHENT|PHNUM|BASE|FLAGS|ENTRY|UID|EUID|GID|EGID|SECURE|RANDOM|EXECFN|PLATFORM|SYSINFO_EHDR|26|27|28|51): (\S+)`)
	auxKeys   = map[string]uint64{"PAGESZ": 6, "CLKTCK": 17, "PHDR": 3, "PHENT": 4, "PHNUM": 5, "BASE": 7, "FLAGS": 8, "ENTRY": 9, "UID": 11, "EUID": 12,
		"GID": 13, "EGID": 14, "SECURE": 23, "RANDOM": 25, "EXECFN": 31, "PLATFORM": 15, "SYSINFO_EHDR": 33, "26": 26, "27": 27, "28": 28, "51": 51}
)

func (k *kernelCore) line(line string) {
	d := k.d
	if m := notePID.FindStringSubmatch(line); m != nil {
		k.thread(m[1])
		return
	}
	if m := noteInfo.FindStringSubmatch(line); m != nil {
		k.fact("process", fmt.Sprint(d.Process.UID, d.Process.GID, d.Process.ID, d.Process.Parent), strings.Join(m[1:], " "))
	} else if m := noteName.FindStringSubmatch(line); m != nil {
		k.fact("name", d.Process.Name, m[1])
		k.fact("arguments", strings.Join(d.Process.Args, " "), m[2])
	} else if m := noteSig.FindStringSubmatch(line); m != nil {
		k.fact("signal", fmt.Sprint(d.Crash.Code, int32(d.Crash.Flags)), m[1]+" "+m[2])
	} else if m := noteFault.FindStringSubmatch(line); m != nil {
		want, _ := strconv.ParseUint(m[1], 0, 64)
		k.fact("address", fmt.Sprint(d.Crash.Address), fmt.Sprint(want))
	} else if m := noteAux.FindStringSubmatch(line); m != nil {
		k.auxiliary(auxKeys[m[1]], m[2])
	} else if m := noteFile.FindStringSubmatch(line); m != nil {
		k.module(m[1], m[3])
	} else if strings.Contains(line, "orig_rax") {
		k.inRegs = true
	} else if !strings.HasPrefix(line, "    ") {
		k.inRegs = false // the next note
	} else if k.inRegs && k.context != nil {
		k.registers(line)
	}
}

func (k *kernelCore) fact(what, got, want string) {
	k.facts++
	if got != want {
		k.t.Errorf("%s: %s is %q, the core has %q", k.name, what, got, want)
	}
}

// thread begins the notes of a thread. For the crashed thread, the registers at the crash
// are compared: it then ran the handler that wrote the minidump.
func (k *kernelCore) thread(pid string) {
	k.threads++
	k.context = nil
	for i := range k.d.Threads {
		if fmt.Sprint(k.d.Threads[i].ID) == pid {
			k.context = k.d.Threads[i].Context
			if i == k.d.CrashedThread() {
				k.context = k.d.Crash.Context
			}
		}
	}
	if k.context == nil {
		k.t.Errorf("%s: thread %s is not in the minidump", k.name, pid)
	}
}

// registers compares the registers in a line. Minidumps have no fs.base and gs.base. The
// signal frame from which Breakpad takes the registers at the crash has no segment but
// cs: its flags exclude the others except ss, which it writes as 0.
func (k *kernelCore) registers(line string) {
	for _, m := range noteReg.FindAllStringSubmatch(line, -1) {
		name := "$" + m[1]
		crashed := k.context == k.d.Crash.Context
		if strings.HasSuffix(name, ".base") || crashed && slices.Contains([]string{"$ss", "$ds", "$es", "$fs", "$gs"}, name) {
			continue
		}
		got, ok := k.context.Get(name)
		if !ok {
			k.t.Errorf("%s: %s is not known", k.name, name)
		}
		want, err := strconv.ParseUint(m[2], 0, 64)
		if signed, serr := strconv.ParseInt(m[2], 0, 64); err != nil && serr == nil {
			want = uint64(signed)
		}
		k.regs++
		if got != want {
			k.t.Errorf("%s: %s is %#x, the core has %#x", k.name, name, got, want)
		}
	}
}

func (k *kernelCore) auxiliary(key uint64, value string) {
	want, err := strconv.ParseUint(value, 0, 64)
	if err != nil {
		k.t.Errorf("%s: %s: %v", k.name, value, err)
	}
	i := slices.IndexFunc(k.d.Auxv, func(a dump.Aux) bool { return a.Key == key })
	if i < 0 || k.d.Auxv[i].Value != want {
		k.t.Errorf("%s: auxiliary vector %d: %v, the core has %#x", k.name, key, k.d.Auxv, want)
	}
	k.aux++
}

// module compares where a file begins in memory. Breakpad writes the path of a
// library as its soname.
func (k *kernelCore) module(start, path string) {
	addr, _ := strconv.ParseUint(start, 16, 64)
	i := k.d.ModuleAt(addr)
	if i < 0 || k.d.Modules[i].Addr != addr || !strings.HasPrefix(path, k.d.Modules[i].Path) {
		k.t.Errorf("%s: no module %s at %#x", k.name, path, addr)
		return
	}
	if k.modules == nil {
		k.modules = map[string]bool{}
	}
	k.modules[path] = true
}

// TestBreakpadMachineReadable compares with Breakpad's own stackwalker.
func TestBreakpadMachineReadable(t *testing.T) {
	text, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", "minidump2.stackwalk.machine_readable.out"))
	if err != nil {
		t.Fatal(err)
	}
	d := readDump(t, "minidumps", "breakpad", "minidump2.dmp")
	var got, want []string
	for line := range strings.Lines(string(text)) {
		kind, _, _ := strings.Cut(line, "|")
		if slices.Contains([]string{"OS", "CPU", "Crash", "Module"}, kind) {
			want = append(want, strings.TrimSpace(line))
		}
	}
	// Breakpad calls the system Windows NT.
	got = append(got, fmt.Sprintf("OS|%v NT|%s %s", d.System.OS, d.System.Version, d.System.Build))
	got = append(got, fmt.Sprintf("CPU|%s|%s|%d", d.System.CPU, d.System.Model, d.System.CPUs))
	got = append(got, fmt.Sprintf("Crash|%s|%#x|%d", d.Reason(), d.Crash.Address, d.CrashedThread()))
	for i, m := range d.Modules {
		main := 0
		if i == d.Main {
			main = 1
		}
		got = append(got, fmt.Sprintf("Module|%s|%s|%s|%s|0x%08x|0x%08x|%d", d.System.OS.Base(m.Path), m.Version, m.DebugFile, m.DebugID, m.Addr, m.Addr+m.Size-1, main))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestThreadNames finds the names of threads without the reader: a UTF-16 string after its
// length, and an entry in the list with its offset after the thread's id. Neither obj2yaml
// nor LLDB reads this stream.
func TestThreadNames(t *testing.T) {
	d := readDump(t, "minidumps", "breakpad", "thread_name_list.dmp")
	data, err := os.ReadFile(testenv.Shared(t, "data", "minidumps", "breakpad", "thread_name_list.dmp"))
	if err != nil {
		t.Fatal(err)
	}
	le, named := binary.LittleEndian, 0
	for _, th := range d.Threads {
		if th.Name == "" {
			continue
		}
		named++
		text := le.AppendUint32(nil, uint32(2*len(th.Name)))
		for _, c := range th.Name {
			text = le.AppendUint16(text, uint16(c))
		}
		entry := le.AppendUint64(le.AppendUint32(nil, th.ID), uint64(bytes.Index(data, text)))
		if !bytes.Contains(data, text) || bytes.Count(data, entry) != 1 {
			t.Errorf("thread %d is not %q", th.ID, th.Name)
		}
	}
	if named != 3 || d.Threads[0].Name != "main thread" {
		t.Errorf("%d names: %+v", named, d.Threads)
	}
}
