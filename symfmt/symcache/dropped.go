package symcache

import "github.com/symtool/symtool/symfmt"

// dropped calls report with what the module that was built has no place for.
func (b *builder) dropped(report func(symfmt.Loss)) {
	var languages, unnamed, servers int
	for i, named := range b.named {
		language := b.c.order.Uint32(b.c.functions.entry(uint32(i))[12:])
		languages += count(named && language != 0 && language != noLanguage)
		unnamed += count(!named)
	}
	for i := range uint32(b.c.files.len()) {
		servers += count(b.hasServer(b.c.files.entry(i)))
	}
	for _, l := range []symfmt.Loss{
		{What: "languages of functions", Count: languages, Why: "a symbol file has none"},
		{What: "functions without code", Count: unnamed, Why: "no source location names them"},
		{What: "places of files on source servers", Count: servers, Why: "a symbol file has none"},
		{What: "sections about variables", Count: count(b.c.variables), Why: "a symbol file has none"},
	} {
		if l.Count > 0 {
			report(l)
		}
	}
}

// hasServer reports whether a file has a name, directory or revision on a server.
func (b *builder) hasServer(file []byte) bool {
	for at := 12; at < len(file); at += 4 {
		if b.c.order.Uint32(file[at:]) != none {
			return true
		}
	}
	return false
}
