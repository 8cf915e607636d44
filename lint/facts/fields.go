package facts

import "github.com/symtool/symtool/symfmt"

// AddressField returns the number of the field of a FUNC or PUBLIC with its address, counted as in
// symfmt.Record.FieldPos. The word "m" moves it.
func AddressField(r *symfmt.Record) int {
	if r.Multiple {
		return 2
	}
	return 1
}

// NameField returns the number of the field at which the name of a record begins, 0 for records
// without a name.
func NameField(r *symfmt.Record) int {
	switch r.Kind {
	case symfmt.KindFile, symfmt.KindInlineOrigin:
		return 2
	case symfmt.KindModule:
		return 4
	case symfmt.KindFunc:
		return AddressField(r) + 3
	case symfmt.KindPublic:
		return AddressField(r) + 2
	}
	return 0
}
