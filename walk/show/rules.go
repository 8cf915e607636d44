package show

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules.txt
var ruleText string

// rule is a line of rules.txt.
type rule struct {
	pattern pattern
	shape   string
	paths   map[string][]string // by part of the shape
	element []int               // path of type arguments to the type of the elements; nil means the type that data points to
	count   int                 // the type argument that gives the number of elements; 0 if none does
	skip    int                 // words of a node before its element
}

// shapes are the parts that each shape requires.
var shapes = map[string][]string{
	"string": {"data"}, "sequence": {"data"}, "array": {"data"}, "pointer": {"data"}, "optional": {"some", "data"},
	"count": {"size"}, "one": {"data"}, "dynamic": {"type", "data"}, "function": {"type", "data"}, "tuple": {"data"},
	"bits": {"data", "end", "size"}, "chain": {"data"}, "tree": {"data", "size"}, "table": {"data", "size", "most"},
	"variant": {"data", "size", "first", "rest"}, "ring": {"data", "from", "size", "most"},
	"blocks": {"data", "to", "node", "from", "end", "endnode"}, "duration": {"data"},
	"hashes": {"data", "size", "most", "from"}, "any": {"data", "type"}, "bitset": {"data"}, "dyn": {"data", "type"},
	"btree": {"data", "most", "size", "first"},
}

// rules returns the rules of rules.txt.
var rules = sync.OnceValue(func() []rule {
	all, err := parseRules(ruleText)
	if err != nil {
		panic("walk/show: " + err.Error())
	}
	return all
})

// parseRules parses rules. A pattern ends at two spaces, because names of types contain single
// spaces.
func parseRules(text string) (all []rule, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, "  ")
		words := strings.Fields(rest)
		if len(words) == 0 || shapes[words[0]] == nil {
			return nil, fmt.Errorf("rules.txt:%d: no shape", n+1)
		}
		r := rule{pattern: newPattern(name), shape: words[0], paths: map[string][]string{}}
		for _, word := range words[1:] {
			key, value, ok := strings.Cut(word, "=")
			switch key {
			case "element":
				r.element, err = numbers(value)
			case "count":
				r.count, err = strconv.Atoi(value)
			case "skip":
				r.skip, err = strconv.Atoi(value)
			case "data", "size", "end", "some", "type", "first", "rest", "from", "to", "most", "node", "endnode":
				r.paths[key] = strings.Split(value, ".")
			default:
				ok = false
			}
			if !ok || err != nil {
				return nil, fmt.Errorf("rules.txt:%d: %q", n+1, word)
			}
		}
		for _, part := range shapes[r.shape] {
			if r.paths[part] == nil {
				return nil, fmt.Errorf("rules.txt:%d: no %s", n+1, part)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// numbers parses numbers separated by dots.
func numbers(text string) (all []int, err error) {
	for _, word := range strings.Split(text, ".") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// pattern is the list of parts of a pattern between its *, which stand for any text.
type pattern []string

func newPattern(text string) pattern { return strings.Split(text, "*") }

// matches reports whether a name matches.
func (p pattern) matches(name string) bool {
	if !strings.HasPrefix(name, p[0]) {
		return false
	}
	name = name[len(p[0]):]
	for i, part := range p[1:] {
		if i == len(p)-2 {
			return strings.HasSuffix(name, part)
		}
		at := strings.Index(name, part)
		if at < 0 {
			return false
		}
		name = name[at+len(part):]
	}
	return name == ""
}

// elementName returns the name of the type of the elements of a type.
func (r *rule) elementName(name string) string {
	for _, n := range r.element {
		name = argument(name, n)
	}
	return name
}

// argument returns argument n, from 1, of a name with arguments: "u8" of "Vec<u8, Global>".
func argument(name string, n int) string {
	_, rest, ok := strings.Cut(name, "<")
	if !ok {
		return ""
	}
	depth, from := 0, 0
	for i, c := range rest {
		switch c {
		case '<', '(', '[':
			depth++
		case '>', ')', ']':
			depth--
		}
		if depth < 0 || depth == 0 && c == ',' {
			if n--; n == 0 {
				return strings.TrimSpace(rest[from:i])
			}
			from = i + 1
		}
		if depth < 0 {
			break
		}
	}
	return ""
}
