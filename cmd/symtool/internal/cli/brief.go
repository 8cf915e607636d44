package cli

import (
	"fmt"
	"slices"
	"strings"
)

// The short help, printed by COMMAND --help, has what fits on a screen. symtool help COMMAND prints
// everything.

// screenLines and screenColumns are the size of a screen.
const (
	screenLines   = 40
	screenColumns = 80
)

// flagGroup is one or a few lines of the short help: flags on the same subject, of any command.
type flagGroup struct{ title, names string }

// groupColumn is the column where the flags of a group begin.
const groupColumn = 12

// flagGroups lists the groups in the order of the short help. A test fails for a flag that has no
// group: add new flags here.
var flagGroups = []flagGroup{
	{"Symbols", "symbols symbols-b binaries binary debuginfod no-debuginfod symbol-url symbol-cache local index index-dir"},
	{"Input", "from build-id arch debug-file debug-dir dwo-dir dwp no-object-timestamp hermetic module base address add " +
		"maps core pid stop-limit accept skip-no-debug-info since-index"},
	{"Output", "to output store both-names to-store layout protocol endpoint region field format filter summary signature-rules " +
		"compare check pc compare-cfi detail stat raw color gzip zstd compress zip-size crlf json-names json-indent list resume strict"},
	{"Contents", "no-inlines no-cfi cfi cfi-only only-cfi module-only only vars vars-types vars-redact vars-depth vars-length demangle " +
		"no-generator info digest name id os rename-module names old-inline-origin gsym-version symcache-version sframe-version " +
		"byte-order thread goroutines coroutines jit crashed-only brief registers memory streams stack-bytes max-frames max-scan techniques trace source"},
	{"Paths", "prefix-map map map-file map-var map-links map-manifest map-list source-map"},
	{"Checks", "check-cfi min-cfi min-lines verify allow-missing verdict fail-on tolerance select ignore preset config baseline " +
		"write-baseline max-per-rule explain docs"},
	{"Versions", "damaged force replace keep no-sync keep-last older-than max-size dry-run last"},
	{"Builds", "restat stamp MD MF MT MP"},
	{"Server", "listen prefix public-url tls-cert tls-key allow-origin cache-size access-log missing"},
	{"Uploads", "accept-uploads token-file header-file private max-upload upload-rate"},
	{"Limits", "jobs scratch max-unpacked max-ratio retries timeout max-requests max-body stall drain"},
	{"Messages", "verbose quiet log-level help"},
}

// groupOf returns the index of a flag's group in flagGroups, or -1.
func groupOf(name string) int {
	return slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(strings.Fields(g.names), name) })
}

// briefHelp returns the text of `symtool COMMAND --help`. This is whole, the text of `symtool help
// COMMAND`, if it fits on a screen.
func briefHelp(m *CommandModel, whole string) string {
	if strings.Count(whole, "\n") <= screenLines {
		return whole
	}
	var b strings.Builder
	first, _, _ := strings.Cut(m.Text, "\n\n")
	fmt.Fprintf(&b, "%s %s: %s\n\nUsage:\n  %s\n\n%s\n\nFlags:\n", m.App, m.Name, m.Title, strings.Join(m.Synopsis, "\n  "), first)
	for i, g := range flagGroups {
		var heads []string
		for _, f := range m.Flags {
			if groupOf(f.Name) == i {
				heads = append(heads, f.Head())
			}
		}
		b.WriteString(g.lines(heads))
	}
	fmt.Fprintf(&b, "\nExamples:\n%s\n\n%s help %s, or man %[2]s-%[3]s, explains every flag.\n%[2]s help exit lists the exit statuses.\n", m.Examples, m.App, m.Name)
	return b.String()
}

// lines returns the title of the group followed by heads, the command's flags in this group, or ""
// if there are none.
func (g flagGroup) lines(heads []string) string {
	var b strings.Builder
	column := screenColumns
	for i, head := range heads {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "  %-*s", groupColumn-2, g.title)
			column = groupColumn
		case column+2+len(head) > screenColumns:
			fmt.Fprintf(&b, "\n%*s", groupColumn, "")
			column = groupColumn
		default:
			b.WriteString("  ")
			column += 2
		}
		b.WriteString(head)
		column += len(head)
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	return b.String()
}
