package lint

import "slices"

// Preset is a selection of rules for one kind of symbol file.
type Preset struct {
	Name   string
	Title  string   // what it is for
	Ignore []string // rules that are not checked, as arguments of SelectRules
}

// presets leave out the rules about things that files of their kind cannot have. The rules about order, references,
// agreement with the binary and the share of code with call frame information remain.
var presets = []Preset{
	{
		Name:   "stripped",
		Title:  "for libraries of others, without debug information: exported functions have names, and code has no lines",
		Ignore: []string{"SYM420", "SYM505", "SYM704", "SYM705"},
	},
}

// PresetNames returns the names of all presets.
func PresetNames() []string {
	names := make([]string, len(presets))
	for i, p := range presets {
		names[i] = p.Name
	}
	return names
}

// PresetByName returns the preset with the given name; ok is false if there is none.
func PresetByName(name string) (p Preset, ok bool) {
	i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return Preset{}, false
	}
	return presets[i], true
}
