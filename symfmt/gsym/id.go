package gsym

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// codeID is the key of the INFO record with the whole build id.
const codeID = "CODE_ID"

const guidSize = bin.GUIDSize

// identity is what a module's records say about its build.
type identity struct {
	uuid  []byte           // build id, or the known part of it; or nil
	order binary.ByteOrder // byte order of the GUID in uuid; nil if unknown
	age   string           // the part of MODULE's id after the GUID
}

// identify finds the build id: all of it in INFO CODE_ID if that agrees with
// MODULE's id, otherwise the 16 bytes in MODULE's id. Those are a GUID, whose
// first three fields are numbers in the module's byte order, big-endian on Apple's
// systems, where the id is a UUID (Breakpad, src/common/linux/file_id.cc and
// src/common/mac/file_id.cc).
func identify(m *symfmt.Module) identity {
	var id identity
	guid, err := hex.DecodeString(m.ID[:min(len(m.ID), 2*guidSize)])
	if err != nil || len(guid) < guidSize {
		return id
	}
	id.age = m.ID[2*guidSize:]
	for i := range m.Infos {
		code, err := hex.DecodeString(m.Infos[i].CodeID())
		if err != nil || len(code) == 0 {
			continue
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if bin.SwapGUID(code, order) == [guidSize]byte(guid) {
				return identity{code, order, id.age}
			}
		}
	}
	if apple(m.OS) {
		id.uuid = guid
		return id
	}
	swapped := bin.SwapGUID(guid, arch.OrderByName(m.Arch))
	id.uuid = swapped[:]
	return id
}

func apple(os string) bool { return os == "mac" || os == "ios" }

// setID sets the id of a module that was read. The GUID is in the CPU's byte
// order, which may differ from the file's, because the writer chose that one. The
// file's is used if the CPU is unknown or supports both orders.
func setID(m *symfmt.Module, uuid []byte, order binary.ByteOrder) {
	if len(uuid) == 0 {
		m.ID = strings.Repeat("0", 2*guidSize+1)
		return
	}
	switch a := arch.ByName(m.Arch); {
	case apple(m.OS):
		order = binary.BigEndian
	case a != nil && !a.BothOrders:
		order = a.Order
	}
	m.ID = fmt.Sprintf("%X0", bin.SwapGUID(uuid, order))
	if !apple(m.OS) {
		m.Infos = append(m.Infos, symfmt.Info{Key: codeID, Value: fmt.Sprintf("%X", uuid)})
	}
}
