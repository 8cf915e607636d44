package report

import "github.com/symtool/symtool/symfmt"

// docModule is a module. EndAddr is the address after its last byte.
type docModule struct {
	BaseAddr       string         `json:"base_addr"`
	CertSubject    null           `json:"cert_subject"`
	CodeID         *string        `json:"code_id"`
	CorruptSymbols bool           `json:"corrupt_symbols"` // symbols were found but cannot be used
	DebugFile      *string        `json:"debug_file"`
	DebugID        *string        `json:"debug_id"`
	EndAddr        string         `json:"end_addr"`
	Filename       *string        `json:"filename"`
	LoadedSymbols  bool           `json:"loaded_symbols"`
	MissingSymbols bool           `json:"missing_symbols"` // symbols were looked for but not found
	SymbolURL      null           `json:"symbol_url"`
	Symtool        docModuleExtra `json:"symtool"`
	Version        *string        `json:"version"`
}

// docModuleExtra is what we add to the schema for a module.
type docModuleExtra struct {
	Binary bool     `json:"binary"` // the symbols are from the binary
	Error  *string  `json:"error"`  // why symbols that were found are not used
	File   *string  `json:"file"`   // file from which the symbols are, or null
	Path   string   `json:"path"`   // of the module, in the process
	Tried  []string `json:"tried"`  // where symbols were looked for and not found
}

// docUnloadedModule is a module that was unloaded before the dump.
type docUnloadedModule struct {
	BaseAddr    string  `json:"base_addr"`
	CertSubject null    `json:"cert_subject"`
	CodeID      *string `json:"code_id"`
	EndAddr     string  `json:"end_addr"`
	Filename    *string `json:"filename"`
}

func (m *documentMaker) modules() []docModule {
	all := make([]docModule, len(m.d.Modules))
	for i := range m.d.Modules {
		all[i] = m.module(i)
	}
	return all
}

func (m *documentMaker) module(i int) docModule {
	module, symbols := &m.d.Modules[i], &m.r.Modules[i]
	doc := docModule{
		BaseAddr: m.hex(module.Addr), EndAddr: m.hex(module.Addr + module.Size),
		CodeID: textOrNull(module.CodeID), DebugFile: textOrNull(module.DebugFile), DebugID: textOrNull(module.DebugID),
		Filename: textOrNull(m.d.System.OS.Base(module.Path)), Version: textOrNull(module.Version),
		LoadedSymbols: symbols.Resolver != nil, MissingSymbols: symbols.Looked() && symbols.Resolver == nil,
		CorruptSymbols: symbols.Resolver == nil && symbols.Err != nil,
		Symtool:        docModuleExtra{Path: module.Path, Tried: append([]string{}, symfmt.TriedLines(symbols.Tried)...)},
	}
	if symbols.Err != nil {
		text := symbols.Err.Error()
		doc.Symtool.Error = &text
	}
	if symbols.Resolver != nil {
		doc.Symtool.File = textOrNull(symbols.Resolver.Identity().Path)
		doc.Symtool.Binary = symbols.Binary
	}
	return doc
}

func (m *documentMaker) unloaded() []docUnloadedModule {
	all := make([]docUnloadedModule, len(m.d.Unloaded))
	for i := range m.d.Unloaded {
		u := &m.d.Unloaded[i]
		all[i] = docUnloadedModule{
			BaseAddr: m.hex(u.Addr), EndAddr: m.hex(u.Addr + u.Size), CodeID: textOrNull(u.CodeID),
			Filename: textOrNull(m.d.System.OS.Base(u.Path)),
		}
	}
	return all
}
