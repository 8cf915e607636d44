package lint

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// libraryText is a configuration as go-toml's own decoder has it: the oracle of
// parseConfig.
type libraryText struct {
	Select   []string          `toml:"select"`
	Ignore   []string          `toml:"ignore"`
	MinCFI   *float64          `toml:"min-cfi"`
	MinLines *float64          `toml:"min-lines"`
	Severity map[string]string `toml:"severity"`
	Suppress []struct {
		Rule     string          `toml:"rule"`
		File     string          `toml:"file"`
		Function string          `toml:"function"`
		Message  string          `toml:"message"`
		Reason   string          `toml:"reason"`
		Expires  *toml.LocalDate `toml:"expires"`
	} `toml:"suppress"`
}

// compareConfig reads a text both ways: both refuse it, or both read the same.
func compareConfig(t *testing.T, data []byte) {
	t.Helper()
	var want libraryText
	theirs := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&want)
	got, _, wrong := parseConfig(data)
	if theirs == nil && wrong != nil && (strings.HasPrefix(wrong.Msg, "unknown key") || wrong.Msg == wantSuppressions) {
		return // the library takes keys in any case, and one table for a list of tables
	}
	if (wrong == nil) != (theirs == nil) {
		t.Errorf("%q: %v, the library: %v", data, wrong, theirs)
		return
	}
	if wrong != nil {
		if wrong.Line < 1 || wrong.Line > bytes.Count(data, []byte("\n"))+1 || wrong.Col < 1 || wrong.Msg == "" {
			t.Errorf("%q: %+v", data, wrong)
		}
		compareLine(t, data, wrong, theirs)
		return
	}
	same := slices.Equal(got.Select, want.Select) && slices.Equal(got.Ignore, want.Ignore) && maps.Equal(got.Severity, want.Severity) &&
		sameNumber(got.MinCFI, want.MinCFI) && sameNumber(got.MinLines, want.MinLines) && len(got.Suppress) == len(want.Suppress)
	for i := 0; same && i < len(got.Suppress); i++ {
		g, w := got.Suppress[i], want.Suppress[i]
		expires := ""
		if w.Expires != nil {
			expires = w.Expires.String()
		}
		same = g == suppressText{w.Rule, w.File, w.Function, w.Message, w.Reason, expires}
	}
	if !same {
		t.Errorf("%q: %+v, the library: %+v", data, got, want)
	}
}

func sameNumber(a, b *float64) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b || math.IsNaN(*a) && math.IsNaN(*b))
}

// compareLine holds the place of a mistake in grammar against the library's.
func compareLine(t *testing.T, data []byte, wrong *ConfigError, theirs error) {
	t.Helper()
	var e *toml.DecodeError
	if errors.As(theirs, &e) && strings.TrimPrefix(e.Error(), "toml: ") == wrong.Msg {
		if line, col := e.Position(); line != wrong.Line || col != wrong.Col {
			t.Errorf("%q: %d:%d, the library %d:%d: %s", data, wrong.Line, wrong.Col, line, col, wrong.Msg)
		}
	}
}

var configTexts = []string{
	"", "# x", "select = []", "select = ['a', \"b\", '''c''', # d\n 'e',\n]", "select = 'a'", "select = [1]", "select = [['a']]", "select = {}", "select.x = 'a'", "[select]", "[[select]]", "[select.x]",
	"select = ['a']\nselect = ['b']", "'select' = ['a']", "\"sel\\u0065ct\" = ['a']", "ignore = ['\\x']", "ignore = [\"\\x\"]", "Select = ['a']",
	"min-cfi = 0", "min-cfi = 01", "min-cfi = +1", "min-cfi = -0", "min-cfi = 1_000", "min-cfi = 1__0", "min-cfi = _1", "min-cfi = 0x1F", "min-cfi = 0o17", "min-cfi = 0b11", "min-cfi = 0X1", "min-cfi = 0x", "min-cfi = 0x_1",
	"min-cfi = 0x1_f", "min-cfi = +0x1", "min-cfi = -0x1", "min-cfi = 1.5", "min-cfi = 1.", "min-cfi = .5", "min-cfi = 1e3", "min-cfi = 1E+03", "min-cfi = 1.e3", "min-cfi = 1_0.2_5e1_0", "min-cfi = 1._5", "min-cfi = 01.5",
	"min-cfi = inf", "min-cfi = -inf", "min-cfi = +nan", "min-cfi = 1e400", "min-cfi = 9223372036854775807", "min-cfi = 9223372036854775808", "min-cfi = -9223372036854775809", "min-cfi = 0xffffffffffffffff", "min-cfi = true",
	"min-cfi = '1'", "min-cfi = 2020-01-01", "min-lines = 1\nmin-lines = 1", "min-lines =", "min-lines", "= 1", "min-cfi = 1 min-lines = 2", "min-cfi = 1 # a",
	"[severity]", "[severity]\na = 'b'\na = 'c'", "[severity]\na = 1", "[severity]\na.b = 'c'", "[severity]\n[severity]", "severity = {a = 'b', c = 'd'}", "severity = {a = 'b', a = 'c'}", "severity = {a.b = 'c'}", "severity = {}",
	"severity.a = 'b'\nseverity.c = 'd'", "severity.a = 'b'\nseverity.a = 'd'", "severity.a = 'b'\n[severity]\nc = 'd'", "severity.a = 'b'\nseverity = {}", "severity = {}\nseverity.a = 'b'", "severity = {}\n[severity]", "[severity]\nx = 'y'\n[[severity]]",
	"[[severity]]", "[severity.a]", "[severity.a]\nb = 'c'", "severity = 'a'", "severity = ['a']", "severity = [{a = 'b'}]", "severity.a.b = 'c'", "severity.'a.b' = 'c'", "[severity]\n'' = 'x'", "[ severity ]\na='b'", "['severity']\na='b'",
	"[[suppress]]\n[[suppress]]", "[[suppress]]\nrule = 'a'\nrule = 'b'", "[[suppress]]\nrule = 'a'\n[[suppress]]\nrule = 'a'", "[suppress]", "[suppress]\nrule = 'a'", "suppress.rule = 'a'", "suppress = {rule = 'a'}", "suppress = 'a'", "suppress = []",
	"suppress = ['a']", "suppress = [{rule = 'a'}, {rule = 'b', rule = 'c'}]", "suppress = [{rule = 'a'}, {rule = 'b'}]", "suppress = [\n{rule = 'a'}, # b\n{rule = 'b'}\n]", "suppress = [{rule = 'a'}]\n[[suppress]]", "[[suppress]]\nrule = 'x'\n[severity]\na = 'b'\n[[suppress]]\nrule = 'y'",
	"[[suppress]]\n[suppress.x]", "[[suppress]]\n[suppress.rule]", "[[suppress]]\n[[suppress.rule]]", "[[suppress]]\nrule.x = 'a'", "[[suppress]]\nother = 'a'", "[[suppress]]\nrule = 1", "[[suppress]]\nexpires = 2020-01-01", "[[suppress]]\nexpires = 2020-02-30",
	"[[suppress]]\nexpires = 2020-02-29", "[[suppress]]\nexpires = 2021-02-29", "[[suppress]]\nexpires = 1900-02-29", "[[suppress]]\nexpires = '2020-01-01'", "[[suppress]]\nexpires = 2020-01-01T00:00:00", "[[suppress]]\nexpires = 2020-01-01T00:00:00Z", "[[suppress]]\nexpires = 00:00:00",
	"[[suppress]]\nexpires = 2020-13-01", "[[suppress]]\nexpires = 2020-00-01", "[[suppress]]\nexpires = 0000-01-01", "[[suppress]]\nexpires = 20-01-01", "[[suppress.rule]]", "[[a.b]]", "[a]", "[a", "[[a]", "[]", "a.b = 1", "severity.a = 'b'\nsuppress = []\n[severity]",
	"select = [\"\"\"\na\"\"\"]", "select = ['\x01']", "# \xff", "select = ['\xff']", "\ufeffselect = []", "select = [']", "select = [\"a\\u00zz\"]", "select = ['a' 'b']", "select = ['a',, 'b']", "select = [,]", "select=['a']\r\nignore=['b']\r\n", "select = ['a']\rignore = []",
	"[severity]\nselect = ['a']", "[severity]\nmin-cfi = 'note'", "[[suppress]]\nselect = ['a']",
}

// The library's decoder refuses what parseConfig refuses, at the same place if it is
// the grammar, and reads the same values.
func TestConfigLibrary(t *testing.T) {
	for _, text := range configTexts {
		compareConfig(t, []byte(text))
	}
	compareConfig(t, []byte(goldenConfig))
}

func FuzzConfigLibrary(f *testing.F) {
	for _, text := range append(configTexts, goldenConfig) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareConfig(t, data) })
}
