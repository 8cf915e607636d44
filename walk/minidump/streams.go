package minidump

import "github.com/symtool/symtool/walk/dump"

// streamKind is a type of stream: its name in Breakpad, and its reader.
type streamKind struct {
	kind uint32
	name string
	read func(*reader, span) // nil if it is only listed
}

const exceptionStream = 6

// streamTable lists the types of streams in the order in which they are read.
var streamTable []streamKind

var streamKinds = map[uint32]*streamKind{}

func init() {
	streamTable = []streamKind{
		{7, "MD_SYSTEM_INFO_STREAM", (*reader).systemInfo},
		{15, "MD_MISC_INFO_STREAM", (*reader).miscInfo},
		{0x47670004, "MD_LINUX_PROC_STATUS", (*reader).procStatus},
		{4, "MD_MODULE_LIST_STREAM", (*reader).moduleList},
		{14, "MD_UNLOADED_MODULE_LIST_STREAM", (*reader).unloadedModules},
		{5, "MD_MEMORY_LIST_STREAM", (*reader).memoryList},
		{9, "MD_MEMORY_64_LIST_STREAM", (*reader).memory64List},
		{3, "MD_THREAD_LIST_STREAM", (*reader).threadList},
		{24, "MD_THREAD_NAME_LIST_STREAM", (*reader).threadNames},
		{exceptionStream, "MD_EXCEPTION_STREAM", (*reader).exception},
		{16, "MD_MEMORY_INFO_LIST_STREAM", (*reader).memoryInfoList},
		{12, "MD_HANDLE_DATA_STREAM", (*reader).handleData},
		{10, "MD_COMMENT_STREAM_A", (*reader).commentA},
		{11, "MD_COMMENT_STREAM_W", (*reader).commentW},
		{0x47670001, "MD_BREAKPAD_INFO_STREAM", (*reader).breakpadInfo},
		{0x47670002, "MD_ASSERTION_INFO_STREAM", (*reader).assertionInfo},
		{0x47670003, "MD_LINUX_CPU_INFO", file("/proc/cpuinfo")},
		{0x47670005, "MD_LINUX_LSB_RELEASE", file("/etc/lsb-release")},
		{0x47670006, "MD_LINUX_CMD_LINE", (*reader).cmdLine},
		{0x47670007, "MD_LINUX_ENVIRON", (*reader).environ},
		{0x47670008, "MD_LINUX_AUXV", (*reader).auxv},
		{0x47670009, "MD_LINUX_MAPS", (*reader).linuxMaps},
		{0x4767000a, "MD_LINUX_DSO_DEBUG", (*reader).dsoDebug},
		{0x43500001, "MD_CRASHPAD_INFO_STREAM", (*reader).crashpadInfo},
		{0x4d7a0003, "MOZ_LINUX_LIMITS", file("/proc/self/limits")},
		{0x4d7a0004, "MOZ_SOFT_ERRORS", file("soft-errors.json")},
		{dump.RestType, dump.RestOwner, func(r *reader, s span) { r.rest = &s }},

		{0, "MD_UNUSED_STREAM", nil},
		{1, "MD_RESERVED_STREAM_0", nil},
		{2, "MD_RESERVED_STREAM_1", nil},
		{8, "MD_THREAD_EX_LIST_STREAM", nil},
		{13, "MD_FUNCTION_TABLE_STREAM", nil},
		{17, "MD_THREAD_INFO_LIST_STREAM", nil},
		{18, "MD_HANDLE_OPERATION_LIST_STREAM", nil},
		{19, "MD_TOKEN_STREAM", nil},
		{20, "MD_JAVASCRIPT_DATA_STREAM", nil},
		{21, "MD_SYSTEM_MEMORY_INFO_STREAM", nil},
		{22, "MD_PROCESS_VM_COUNTERS_STREAM", nil},
		{23, "MD_IPT_TRACE_STREAM", nil},
		{0xffff, "MD_LAST_RESERVED_STREAM", nil},
		{lldbMark, "LLDB_GENERATED", nil},
		{0x4d7a0001, "MOZ_MACOS_CRASH_INFO", nil},
		{0x4d7a0002, "MOZ_MACOS_BOOTARGS", nil},
	}
	for i := range streamTable {
		streamKinds[streamTable[i].kind] = &streamTable[i]
	}
}

func streamName(kind uint32) string {
	if k := streamKinds[kind]; k != nil {
		return k.name
	}
	return ""
}
