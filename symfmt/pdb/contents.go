package pdb

import (
	"crypto"
	"encoding/hex"

	"github.com/symtool/symtool/symfmt"
)

// fileContents is what a module says about the contents of a source file.
type fileContents struct {
	file symfmt.FileID // the offset of its name in /names
	symfmt.Contents
}

// checksumKinds are the hashes of CV_SourceChksum_t; the first stands for no hash.
var checksumKinds = [...]crypto.Hash{0, crypto.MD5, crypto.SHA1, crypto.SHA256}

// contents returns what the module says about the contents of files. Each entry of the checksums holds the
// offset of a name, the length, kind and bytes of a digest, and padding to 4 bytes.
// offset of a name, the length and the kind of a digest, and the digest, and is padded to 4 bytes.
func (m *moduleLines) contents() (all []fileContents) {
	for b := m.files; len(b) >= 6; {
		size, kind := int(b[4]), int(b[5])
		if size > len(b)-6 {
			return all
		}
		if kind > 0 && kind < len(checksumKinds) && checksumKinds[kind].Size() == size {
			c := symfmt.Contents{Hash: checksumKinds[kind], Sum: hex.EncodeToString(b[6 : 6+size])}
			all = append(all, fileContents{symfmt.FileID(u32(b)), c})
		}
		b = b[min(len(b), (6+size+3)&^3):]
	}
	return all
}

// contents adds what a module says about the contents of files that its functions use; the first module
// counts.
func (m *merger) contents(all []fileContents) {
	for _, c := range all {
		id, ok := m.files[c.file]
		if !ok {
			continue
		}
		name := m.out.Files[id].Name
		if _, known := m.out.Contents[name]; known {
			continue
		}
		if m.out.Contents == nil {
			m.out.Contents = map[string]symfmt.Contents{}
		}
		m.out.Contents[name] = c.Contents
	}
}
