package symserver

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/symtool/symtool/resolve/store"
)

// kind is the kind of resource that a path refers to.
type kind uint8

const (
	unknown kind = iota
	symbols
	program
	debuginfo
	executable
	section
	source
	symbolicate
	metricsPage
	health
	form
	uploadAPI
	overview
	kinds
)

var kindNames = [kinds]string{"unknown", "symbols", "program", "debuginfo", "executable", "section", "source", "symbolicate", "metrics", "health", "form", "api", "page"}

func (k kind) String() string { return kindNames[k] }

// always reports whether a kind is answered regardless of the number of requests.
func (k kind) always() bool { return k == metricsPage || k == health }

// target is what a path refers to.
type target struct {
	kind  kind
	place store.Place // of symbols and programs
	text  string      // of symbols: .sym, or .vars for the variables alone
	zip   string      // of symbols: "", .gz, .zst
	id    string      // of build-id paths, in lower case; key of an upload
	name  string      // of a section, a source file, a health page or a call of an API; version of symbolication
}

// maxPath is the longest path that is examined, in bytes.
const maxPath = 4 << 10

// route parses a path, which still has the escapes of the request: an escaped slash in a name is
// not a separator.
func route(prefix, escaped string) target {
	switch escaped {
	case "/metrics":
		return target{kind: metricsPage}
	case "/healthz", "/readyz":
		return target{kind: health, name: escaped[1:]}
	}
	rest, ok := strings.CutPrefix(escaped, prefix+"/")
	if !ok || len(escaped) > maxPath {
		return target{}
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		var err error
		if parts[i], err = url.PathUnescape(p); err != nil || strings.ContainsRune(parts[i], 0) {
			return target{}
		}
	}
	switch {
	case len(parts) == 1 && parts[0] == "":
		return target{kind: overview}
	case parts[0] == "upload" && (len(parts) == 1 || len(parts) == 2 && parts[1] == ""):
		return target{kind: form}
	case parts[0] == "v1" && len(parts) > 1:
		if to := routeAPI(parts[1:]); to.kind != unknown {
			return to
		}
	case len(parts) == 2 && parts[0] == "symbolicate" && (parts[1] == "v4" || parts[1] == "v5"):
		return target{kind: symbolicate, name: parts[1]}
	case len(parts) >= 3 && parts[0] == "buildid":
		if to := routeBuildID(parts[1], parts[2], parts[3:]); to.kind != unknown {
			return to
		}
	}
	if len(parts) == 3 {
		return routeSymbols(parts[0], parts[1], parts[2])
	}
	return target{}
}

// The extensions of symbol files, and of files of variables.
const (
	symbolExt    = ".sym"
	variablesExt = ".vars"
)

// routeSymbols parses NAME/ID/STEM.sym and NAME/ID/STEM.vars, and NAME/ID/NAME, a Windows program or a PDB.
func routeSymbols(name, id, file string) target {
	p, err := store.NewPlace(name, id)
	if err != nil || p.Name != name || strings.HasPrefix(name, ".symtool-") {
		return target{}
	}
	for _, k := range forms {
		for _, text := range []string{symbolExt, variablesExt} {
			if file == p.Stem+text+k.ext {
				return target{kind: symbols, place: p, text: text, zip: k.ext}
			}
		}
	}
	if strings.EqualFold(file, name) {
		return target{kind: program, place: p}
	}
	return target{}
}

// routeAPI parses a path of sym-upload-v2: uploads:create, uploads/KEY, uploads/KEY:complete and
// symbols/NAME/ID:checkStatus.
func routeAPI(parts []string) target {
	last, call, called := cutLast(parts[len(parts)-1], ":")
	to := target{kind: uploadAPI, name: call}
	switch {
	case parts[0] == "uploads:"+callCreate && len(parts) == 1:
	case parts[0] == "uploads" && len(parts) == 2 && !called:
		to.name, to.id = callPut, last
	case parts[0] == "uploads" && len(parts) == 2 && call == callComplete:
		to.id = last
	case parts[0] == "symbols" && len(parts) == 3 && call == callStatus:
		p, err := store.NewPlace(parts[1], last)
		if err != nil || p.Name != parts[1] {
			return target{}
		}
		to.place = p
	default:
		return target{}
	}
	return to
}

// cutLast is like strings.Cut, at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return text, "", false
}

// The lengths of build-ids in digits; those in use have 16 to 64.
const (
	minBuildID = 4
	maxBuildID = 128
)

// routeBuildID parses a path of debuginfod.
func routeBuildID(id, what string, more []string) target {
	if len(id) < minBuildID || len(id) > maxBuildID || len(id)%2 != 0 || strings.Trim(id, "0123456789abcdefABCDEF") != "" {
		return target{}
	}
	to := target{id: strings.ToLower(id)}
	switch {
	case what == "debuginfo" && len(more) == 0:
		to.kind = debuginfo
	case what == "executable" && len(more) == 0:
		to.kind = executable
	case what == "section" && len(more) > 0:
		to.kind, to.name = section, strings.Join(more, "/")
	case what == "source" && len(more) > 0:
		// As in debuginfod: RFC 3986, section 5.2.4, and multiple slashes become one.
		to.kind, to.name = source, strings.TrimPrefix(path.Clean("/"+strings.Join(more, "/")), "/")
	}
	if (to.kind == section || to.kind == source) && (to.name == "" || !utf8.ValidString(to.name)) {
		return target{}
	}
	return to
}

func itoa(n int) string { return strconv.Itoa(n) }
