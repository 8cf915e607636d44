package config

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/filter"
	"github.com/symtool/symtool/lint/finding"
)

func TestReadConfig(t *testing.T) {
	c, err := Read(strings.NewReader(`
preset = "stripped"
select = ["all"]
ignore = ["SYM606", "names"]
min-cfi = 99
min-lines = 90.5

[severity]
names = "error"
SYM602 = "note"
SYM60 = "warning"

[[suppress]]
rule = "names"
file = "a/**/*.sym"
function = "^f"
message = "m$"
reason = " why "
[[suppress]]

rule = "SYM101"
reason = "because"
`), "a.toml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Preset != "stripped" || *c.MinCFI != 99 || *c.MinLines != 90.5 || !slices.Equal(c.Select, []string{"all"}) || !slices.Equal(c.Ignore, []string{"SYM606", "names"}) {
		t.Errorf("%+v", c)
	}
	s := c.Suppressions
	if len(s) != 2 || s[0].Rule != "SYM6" || s[0].Reason != "why" || s[0].Line != 13 || s[0].Function.String() != "^f" || s[0].Message.String() != "m$" ||
		s[1].Rule != "SYM101" || s[1].Line != 19 || s[1].File != "" {
		t.Errorf("suppressions %+v", s)
	}
	for id, want := range map[string]finding.Severity{"SYM601": finding.Warning, "SYM602": finding.Note, "SYM613": finding.Error, "SYM102": finding.Error, "SYM901": finding.Warning} {
		if got := c.Severity(lint.RuleByID(id)); got != want {
			t.Errorf("severity of %s is %v, want %v", id, got, want)
		}
	}
	inline := "\nsuppress = [{rule = 'SYM601', reason = 'r', expires = 2027-01-31}, {rule = 'SYM602', reason = 'r', expires = '2027-01-31'}]"
	if c, err = Read(strings.NewReader(inline), "a.toml"); err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Suppressions {
		if s.Line != 2 || s.Expires != "2027-01-31" || s.Reason != "r" {
			t.Errorf("in braces: %+v", s)
		}
	}
	if c, err := Read(strings.NewReader(""), "a.toml"); err != nil || c.MinCFI != nil || len(c.Suppressions) != 0 {
		t.Errorf("empty: %+v, %v", c, err)
	}
}

func TestConfigErrors(t *testing.T) {
	const rule = "[[suppress]]\nrule = 'SYM601'\nreason = 'r'\n"
	for _, c := range []struct{ text, want string }{
		{"selct = ['SYM1']", `a.toml:1:1: unknown key "selct"`},
		{rule + "because = 'x'", `a.toml:4:1: unknown key "suppress.because"`},
		{"min-cfi = 1\n[other]\na = 1", `a.toml:2:2: unknown key "other"`},
		{"select = 'SYM1'", "a.toml:1:10: select: want a list of strings"},
		{"ignore = ['SYM1', 1]", "a.toml:1:19: ignore: want a list of strings"},
		{"[select]", "a.toml:1:2: select: want a list of strings"},
		{"min-cfi = '1'", "a.toml:1:11: min-cfi: want a number"},
		{"min-lines = true", "a.toml:1:13: min-lines: want a number"},
		{"min-cfi = 01", "a.toml:1:11: toml: "},
		{"min-cfi = 1\nmin-cfi = 1", "a.toml:2:1: toml: key min-cfi is already defined"},
		{"severity = 'note'", "a.toml:1:12: severity: want a table, [severity], of strings"},
		{"[severity]\nSYM601 = 1", "a.toml:2:10: severity.SYM601: want a string in quotes"},
		{"suppress = 'x'", "a.toml:1:12: suppress: want tables, [[suppress]], of strings"},
		{"suppress = [{rule = 1}]", "a.toml:1:21: suppress: want tables, [[suppress]], of strings"},
		{rule + "function = 1", "a.toml:4:12: suppress.function: want a string in quotes"},
		{rule + "expires = 1", "a.toml:4:11: suppress.expires: want a date without quotes, 2027-01-31"},
		{rule + "expires = 2020-01-01T00:00:00", "a.toml:4:11: suppress.expires: want a date"},
		{rule + "expires = '2027-02-30'", "a.toml:4:11: suppress.expires: want a date"},
		{rule + "expires = 2027-02-30", "a.toml:4:19: toml: "},
		{"\nselect = [", "a.toml:2:10: toml: array is incomplete"},
		{"\n\nignore = ['SYM1', 'SYM777']", `a.toml:3: ignore: unknown rule "SYM777": want an ID (SYM101), a prefix (SYM1), all, or a family (grammar, `},
		{"select = ['']", `a.toml:1: select: unknown rule ""`},
		{"min-cfi = 101", "a.toml:1: min-cfi is 101, want 0 to 100 percent"},
		{"min-lines = -0.5", "a.toml:1: min-lines is -0.5, want 0 to 100 percent"},
		{"min-lines = nan", "a.toml:1: min-lines is NaN, want 0 to 100 percent"},
		{"preset = 'strip'", `a.toml:1: preset is "strip", want stripped`},
		{"[severity]\nSYM601 = 'note'\nSYM602 = 'fatal'", `a.toml:3: severity of SYM602 is "fatal", want note, warning, error; ignore = ["SYM602"] leaves the rule out`},
		{"[severity]\nSYM6 = 'off'", `a.toml:2: severity of SYM6 is "off", want note, warning, error; ignore = ["SYM6"] leaves the rule out`},
		{"severity.all = 'note'\nseverity.none = 'note'", `a.toml:2: severity: unknown rule "none"`},
		{rule + "[[suppress]]\nrule = 'SYM601'", "a.toml:4: suppress: reason is missing: say why SYM601 is suppressed"},
		{rule + "[[suppress]]\nrule = 'SYM601'\nreason = ' '", "a.toml:4: suppress: reason is missing"},
		{rule + "[[suppress]]\nreason = 'r'", "a.toml:4: suppress: rule is missing"},
		{rule + "[[suppress]]\nreason = 'r'\nrule = 'x'", `a.toml:6: suppress: unknown rule "x"`},
		{rule + "function = '('", "a.toml:4: suppress: function: error parsing regexp"},
		{rule + "message = '('", "a.toml:4: suppress: message: error parsing regexp"},
		{"suppress = [{rule = 'SYM601'}]", "a.toml:1: suppress: reason is missing"},
		{"select = ['\x01']", "a.toml:1:"},
		{"# \xff", "a.toml:1:"},
		{strings.Repeat("#", maxConfig+1), "a.toml: more than 1048576 bytes: not a configuration"},
	} {
		_, err := Read(strings.NewReader(c.text), "a.toml")
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %s", c.text, err, c.want)
		}
	}
	bad := errors.New("bad disk")
	if _, err := Read(&failingReader{bad}, "a.toml"); !errors.Is(err, bad) {
		t.Error(err)
	}
}

type failingReader struct{ err error }

func (r *failingReader) Read([]byte) (int, error) { return 0, r.err }

// Any bytes are either a configuration, or an error with the file's name.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"select = ['SYM1']\nmin-cfi = 1", "[severity]\nall = 'note'", "suppress = [{rule = 'all', reason = 'x', file = '**'}]", "[a.b]\n[[c]]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Read(strings.NewReader(string(data)), "a.toml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "a.toml:") || text.Printable(err.Error()) != err.Error() {
				t.Errorf("error %q", err)
			}
			return
		}
		if _, err := lint.SelectRules(c.Select, c.Ignore); err != nil {
			t.Error(err)
		}
		r := namesOnly(t, "a.sym", publics(0x1000, 3), filter.New(c, nil), 0)
		if r.Found()+r.Suppressed != namesOnly(t, "a.sym", publics(0x1000, 3), nil, 0).Found() {
			t.Errorf("%d findings, %d suppressed", r.Found(), r.Suppressed)
		}
	})
}

// TestManyTables requires time in proportion to the size of the file: the parser's own count of lines begins at its
// start for each key.
func TestManyTables(t *testing.T) {
	const tables = 100_000
	data := strings.Repeat("[[suppress]]\nrules = [\"SYM601\"]\n", tables)
	watch := testenv.StartWatch()
	lines := keyLines([]byte(data))
	if took := watch.Took(); took > 5*time.Second {
		t.Errorf("took %v for %d bytes", took, len(data))
	}
	if at := lines["suppress.99999"]; at != 2*tables-1 {
		t.Errorf("the last table is in line %d", at)
	}
}
