package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// Types of notes (Linux, include/uapi/linux/elf.h).
const (
	ntPRStatus = 1
	ntPRFPReg  = 2
	ntPRPSInfo = 3
	ntAuxv     = 6
	ntSigInfo  = 0x53494749
	ntFile     = 0x46494c45
	ntPRXFPReg = 0x46e62b7f
	ntARMVFP   = 0x400
	nt386TLS   = 0x200
	ntARMTLS   = 0x401

	ntXState      = 0x202
	ntXSaveLayout = 0x205
	ntSVE         = 0x405
	ntPACMask     = 0x406
	ntSSVE        = 0x40b
	ntRVV         = 0x901
)

const (
	ownerCore  = "CORE"
	ownerLinux = "LINUX"
)

// noteNames are the names of notes of cores, by owner and type.
var noteNames = map[string]map[uint32]string{
	ownerCore: {
		ntPRStatus: "NT_PRSTATUS", ntPRFPReg: "NT_FPREGSET", ntPRPSInfo: "NT_PRPSINFO", 4: "NT_TASKSTRUCT", ntAuxv: "NT_AUXV",
		ntSigInfo: "NT_SIGINFO", ntFile: "NT_FILE",
	},
	ownerLinux: {
		ntPRXFPReg: "NT_PRXFPREG", 0x100: "NT_PPC_VMX", 0x101: "NT_PPC_SPE", 0x102: "NT_PPC_VSX", 0x103: "NT_PPC_TAR",
		0x104: "NT_PPC_PPR", 0x105: "NT_PPC_DSCR", 0x106: "NT_PPC_EBB", 0x107: "NT_PPC_PMU",
		nt386TLS: "NT_386_TLS", 0x201: "NT_386_IOPERM", ntXState: "NT_X86_XSTATE", 0x204: "NT_X86_SHSTK", ntXSaveLayout: "NT_X86_XSAVE_LAYOUT",
		0x300: "NT_S390_HIGH_GPRS", 0x301: "NT_S390_TIMER", 0x302: "NT_S390_TODCMP", 0x303: "NT_S390_TODPREG",
		0x304: "NT_S390_CTRS", 0x305: "NT_S390_PREFIX", 0x306: "NT_S390_LAST_BREAK", 0x307: "NT_S390_SYSTEM_CALL",
		0x308: "NT_S390_TDB", 0x309: "NT_S390_VXRS_LOW", 0x30a: "NT_S390_VXRS_HIGH", 0x30b: "NT_S390_GS_CB", 0x30c: "NT_S390_GS_BC",
		ntARMVFP: "NT_ARM_VFP", ntARMTLS: "NT_ARM_TLS", 0x402: "NT_ARM_HW_BREAK", 0x403: "NT_ARM_HW_WATCH",
		0x404: "NT_ARM_SYSTEM_CALL", ntSVE: "NT_ARM_SVE", ntPACMask: "NT_ARM_PAC_MASK", 0x407: "NT_ARM_PACA_KEYS",
		0x408: "NT_ARM_PACG_KEYS", 0x409: "NT_ARM_TAGGED_ADDR_CTRL", 0x40a: "NT_ARM_PAC_ENABLED_KEYS", ntSSVE: "NT_ARM_SSVE",
		0x40c: "NT_ARM_ZA", 0x40d: "NT_ARM_ZT", 0x40e: "NT_ARM_FPMR", 0x40f: "NT_ARM_POE", 0x410: "NT_ARM_GCS",
		0x800: "NT_MIPS_DSP", 0x801: "NT_MIPS_FP_MODE", 0x802: "NT_MIPS_MSA",
		0x900: "NT_RISCV_CSR", ntRVV: "NT_RISCV_VECTOR", 0x902: "NT_RISCV_TAGGED_ADDR_CTRL",
	},
	"GDB":           {0xff000000: "NT_GDB_TDESC"},
	ownerVMCoreInfo: {0: "VMCOREINFO"},
	dump.RestOwner:  {dump.RestType: dump.RestOwner},
}

// note is a note of the core.
type note struct {
	kind   uint32
	owner  string
	desc   []byte
	offset uint64 // of desc in the file
}

// noteReaders are the readers of known notes, by owner and type.
var noteReaders = map[string]map[uint32]func(*reader, note){
	ownerCore: {
		ntPRStatus: (*reader).readStatus,
		ntPRPSInfo: (*reader).readPSInfo,
		ntSigInfo:  (*reader).readSigInfo,
		ntAuxv:     (*reader).readAuxv,
		ntFile:     (*reader).readFiles,
	},
	ownerLinux: {
		nt386TLS: (*reader).readSegments,
		ntARMTLS: (*reader).readThreadPointer,

		ntXState:      (*reader).readXState,
		ntXSaveLayout: (*reader).readXSaveLayout,
		ntSVE:         (*reader).readSVE,
		ntSSVE:        (*reader).readSVE,
		ntRVV:         (*reader).readRVV,
		ntPACMask:     (*reader).readPACMask,
	},
	ownerVMCoreInfo: {0: (*reader).readVMCoreInfo},
	dump.RestOwner:  {dump.RestType: func(r *reader, n note) { r.rest = &n }},
}

func (r *reader) readNotes() {
	found := false
	for _, p := range r.f.Segments {
		if p.Type != elf.PT_NOTE {
			continue
		}
		found = true
		off := min(p.Offset, uint64(len(r.data)))
		size := min(p.FileSize, uint64(len(r.data))-off)
		if size < p.FileSize {
			r.problem("notes", off, "notes of %d bytes, of which the file has %d (truncated?)", p.FileSize, size)
		}
		err := elfobj.EachNote(r.data[off:off+size], 4, r.order(), func(n elfobj.Note) bool {
			r.readNote(note{n.Type, strings.TrimRight(string(n.Name), "\x00"), n.Desc, off + n.Offset})
			return true
		})
		if e, ok := err.(*damage.Error); ok {
			e.File, e.Offset = r.f.Path, e.Offset+off
			r.d.Problems = append(r.d.Problems, damage.Problem{Lost: "the remaining notes", Err: e})
		}
	}
	if !found {
		r.problem("threads and modules", 0, "no notes")
	}
	r.readXStates()
}

func (r *reader) readNote(n note) {
	r.d.Parts = append(r.d.Parts, dump.Part{Type: n.kind, Name: noteNames[n.owner][n.kind], Offset: n.offset, Size: uint64(len(n.desc))})
	if read := noteReaders[n.owner][n.kind]; read != nil {
		read(r, n)
		return
	}
	r.readFloat(n)
}

// cursor reads a note; its offsets are from the start of the file.
func (r *reader) cursor(n note) bin.Cursor {
	return bin.NewAt("", n.desc, n.offset, r.order())
}

// damaged reports a note that is too short.
func (r *reader) damaged(n note, lost string, err error) {
	e := *err.(*damage.Error)
	e.File, e.Msg = r.f.Path, fmt.Sprintf("%s of %d bytes: %s", noteNames[n.owner][n.kind], len(n.desc), e.Msg)
	r.d.Problems = append(r.d.Problems, damage.Problem{Lost: lost, Err: &e})
}

// uintAt reads a number of 1, 2, 4 or 8 bytes at off, if they are there.
func uintAt(b []byte, off, size int, order binary.ByteOrder) (uint64, bool) {
	if off+size > len(b) {
		return 0, false
	}
	switch size {
	case 1:
		return uint64(b[off]), true
	case 2:
		return uint64(order.Uint16(b[off:])), true
	case 4:
		return uint64(order.Uint32(b[off:])), true
	}
	return order.Uint64(b[off:]), true
}

// appendUint writes a number of 2, 4 or 8 bytes.
func appendUint(b []byte, v uint64, size int, order binary.ByteOrder) []byte {
	var buf [8]byte
	switch size {
	case 2:
		order.PutUint16(buf[:], uint16(v))
	case 4:
		order.PutUint32(buf[:], uint32(v))
	default:
		order.PutUint64(buf[:], v)
	}
	return append(b, buf[:size]...)
}
