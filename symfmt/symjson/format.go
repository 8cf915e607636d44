package symjson

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Name and version of the format, as written at the start of each output. A change
// that old readers would misread needs a new version.
const (
	formatName = "symtool-symbols"
	version    = 1
)

// maxNumber is the largest number written as a JSON number: JavaScript and jq
// use doubles, which hold all integers up to here.
const maxNumber = 1<<53 - 1

// kind is the kind of a record; its name is the value of "kind" in JSON Lines.
type kind uint8

const (
	noKind kind = iota
	kindModule
	kindInfo
	kindFile
	kindOrigin
	kindFunc
	kindPublic
	kindWin
	kindCFI
	kindVar
)

var kindNames = [...]string{
	"", "module", "info", "file", "inline_origin", "func", "public", "stack_win", "stack_cfi", "var",
}

// listNames are the keys of a document whose values are lists of records;
// "module" is a single record.
var listNames = [...]string{
	"", "module", "infos", "files", "inline_origins", "funcs", "publics", "stack_wins", "stack_cfis", "vars",
}

func (k kind) String() string { return kindNames[k] }

// nameIn returns the kind with the given name in list, or noKind.
func nameIn(list []string, name []byte) kind {
	for i, n := range list {
		if i > 0 && n == string(name) {
			return kind(i)
		}
	}
	return noKind
}

// Options control how a module is written.
type Options struct {
	// Lines selects JSON Lines, one record a line, instead of one document.
	Lines bool

	// Indent lays out a document for people: each record, INLINE and line
	// record is on a line of its own. It does not affect JSON Lines.
	Indent bool

	// Names adds to each FUNC the names of the files and origins that its records
	// refer to by number, as "file_names" and "origin_names", so that it is
	// complete in itself. Readers ignore them.
	Names bool
}

// MatchDocument reports whether a file with these first bytes, 64 or more, is a
// document of this format: it begins with "format".
func MatchDocument(head []byte) bool {
	key, value := firstField(head)
	return key == "format" && value == formatName
}

// MatchLines reports whether a file with these first bytes is JSON Lines of this
// format: it begins with the "kind" of a record. It returns false for kinds that other
// formats may have, too.
func MatchLines(head []byte) bool {
	key, value := firstField(head)
	if key != "kind" {
		return false
	}
	switch nameIn(kindNames[:], []byte(value)) {
	case kindModule:
		return bytes.Contains(head, []byte(formatName))
	case kindOrigin, kindFunc, kindWin, kindCFI, kindVar:
		return true
	}
	return false
}

// firstField returns the first field of an object, if its value is a string.
func firstField(head []byte) (key, value string) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, bom)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", ""
	}
	k, _ := d.Token()
	v, _ := d.Token()
	key, _ = k.(string)
	value, _ = v.(string)
	return key, value
}

// bom is the byte order mark that some programs write before UTF-8.
var bom = []byte("\xef\xbb\xbf")

// fileNames and originNames map numbers to names: the first record's if several
// have the same number.
func fileNames(m *symfmt.Module) map[symfmt.FileID]string {
	names := make(map[symfmt.FileID]string, len(m.Files))
	for _, f := range slices.Backward(m.Files) {
		names[f.ID] = f.Name
	}
	return names
}

func originNames(m *symfmt.Module) map[symfmt.OriginID]string {
	names := make(map[symfmt.OriginID]string, len(m.Origins))
	for _, o := range slices.Backward(m.Origins) {
		names[o.ID] = o.Name
	}
	return names
}
