package lint

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// The keys of a configuration, and of a suppression in it.
const (
	configKeys   = "select, ignore, min-cfi, min-lines, severity or suppress"
	suppressKeys = "rule, file, function, message, reason or expires"
)

// tomlError gives the library's errors their place, and the words of people who
// write configurations.
func tomlError(file string, err error) error {
	e := &ConfigError{File: file, Msg: strings.TrimPrefix(err.Error(), "toml: ")}
	var strict *toml.StrictMissingError
	var decode *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		first := &strict.Errors[0]
		e.Line, e.Col = first.Position()
		e.Msg = unknownKey(first.Key())
	case errors.As(err, &decode):
		e.Line, e.Col = decode.Position()
		e.Msg = wrongType(decode.Key(), e.Msg)
	}
	return e
}

func unknownKey(key toml.Key) string {
	want := configKeys
	if len(key) > 1 && key[0] == "suppress" {
		want = suppressKeys
	}
	return fmt.Sprintf("unknown key %q: want %s", strings.Join(key, "."), want)
}

// decodeMsg is what the library says of a value of the wrong type.
var decodeMsg = regexp.MustCompile(`^cannot decode TOML ([a-z -]+) into .*?([^ ]+)$`)

// typeNames are the types of values, for people.
var typeNames = map[string]string{
	"map[string]string": "a table, [severity]", "string": "a text in quotes", "[]string": "a list of texts", "float64": "a number", "*float64": "a number",
	"toml.LocalDate": "a date without quotes, 2027-01-31", "*toml.LocalDate": "a date without quotes, 2027-01-31",
}

// wrongType puts the library's message about a value in words that are not of Go.
func wrongType(key toml.Key, msg string) string {
	name := strings.Join(key, ".")
	if m := decodeMsg.FindStringSubmatch(msg); m != nil && typeNames[m[2]] != "" {
		return fmt.Sprintf("%s is of type %s, want %s", name, m[1], typeNames[m[2]])
	}
	if name == "suppress" && strings.HasPrefix(msg, "cannot ") {
		return "suppress is a list of tables: want [[suppress]]"
	}
	return msg
}

// keyLines finds the lines of keys: "select", "severity.SYM601", "suppress.0" and
// "suppress.0.rule". The text has no errors.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	p := unstable.Parser{}
	p.Reset(data)
	table, count := "", 0
	for p.NextExpression() {
		e := p.Expression()
		var parts []string
		line := 0
		for it := e.Key(); it.Next(); {
			parts = append(parts, string(it.Node().Data))
			if line == 0 {
				line = p.Shape(it.Node().Raw).Start.Line
			}
		}
		key := strings.Join(parts, ".")
		switch e.Kind {
		case unstable.ArrayTable:
			table = fmt.Sprintf("%s.%d.", key, count)
			lines[strings.TrimSuffix(table, ".")] = line
			count++
		case unstable.Table:
			table = key + "."
		case unstable.KeyValue:
			lines[table+key] = line
		}
	}
	return lines
}
