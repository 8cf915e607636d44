package peobj

import (
	"debug/pe"
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
)

// hybrid is what the metadata of an ARM64EC image say. Such images have arm64 code that uses the calling convention
// of x64, beside x64 code, and claim to be for x64 (IMAGE_ARM64EC_METADATA in winnt.h, "ARM64EC ABI conventions").
type hybrid struct {
	pdata pe.DataDirectory // .pdata of the arm64 code; the exception directory is for the x64 code
}

// Offsets in the load configuration of PE32+ and in the metadata.
const (
	loadConfigDirectory = 10 // in the data directories
	hybridPointerAt     = 0xc8
	hybridPDataAt       = 0x40
	hybridSize          = hybridPDataAt + 8
)

// readHybrid returns the image's metadata, or nil if it has code for one CPU only.
func (f *File) readHybrid() *hybrid {
	dir := f.directory(loadConfigDirectory)
	if dir.Size == 0 || !f.plus || f.header.Machine != pe.IMAGE_FILE_MACHINE_AMD64 {
		return nil
	}
	config, err := f.at(dir.VirtualAddress, hybridPointerAt+8)
	if err != nil || len(config) < hybridPointerAt+8 || binary.LittleEndian.Uint32(config) < hybridPointerAt+8 {
		return nil
	}
	at := binary.LittleEndian.Uint64(config[hybridPointerAt:]) - f.imageBase
	if at == -f.imageBase || at >= 1<<32 {
		return nil
	}
	h := &hybrid{}
	data, err := f.at(uint32(at), hybridSize)
	if err == nil && len(data) < hybridSize {
		err = f.in.Errorf(0, "metadata of ARM64EC at RVA %#x end with the section", at)
	}
	if err != nil {
		f.problems = append(f.problems, bin.Problem{Lost: "STACK CFI of arm64 code", Err: err})
		return h
	}
	h.pdata.VirtualAddress = binary.LittleEndian.Uint32(data[hybridPDataAt:])
	h.pdata.Size = binary.LittleEndian.Uint32(data[hybridPDataAt+4:])
	if f.directory(exceptionDirectory).Size > 0 {
		f.problems = append(f.problems, bin.Problem{
			Lost: "STACK CFI of x64 code",
			Err:  f.in.Errorf(0, "an image of ARM64EC has code for two CPUs, and a symbol file is for one, here arm64"),
		})
	}
	return h
}

// machine returns the CPU of the code, which is arm64 for ARM64EC although the image claims to be for x64.
func (f *File) machine() uint16 {
	const arm64EC = 0xa641
	if f.hybrid != nil {
		return arm64EC
	}
	return f.header.Machine
}
