package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// value is the value of a flag that is not text. It implements cli.Generic and flag.Getter.
type value[T any] struct {
	to    *T
	text  string
	parse func(string) (T, error)
}

// wanted is the error of a value: what it must be.
type wanted string

func (w wanted) Error() string { return ", want " + string(w) }

// Set implements cli.Generic.
func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.to, v.text = parsed, text
	}
	return err
}

// String implements cli.Generic.
func (v *value[T]) String() string { return v.text }

// Get implements flag.Getter.
func (v *value[T]) Get() any { return v.text }

// Value returns a flag whose value parse reads; without the flag, to keeps its value. Want makes the errors.
func Value[T any](name, usage string, to *T, parse func(text string) (T, error)) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &value[T]{to: to, parse: parse}}
}

// Parsed is like Value, for a parse that only says whether the text is what is wanted.
func Parsed[T any](name, usage string, to *T, want string, parse func(text string) (T, bool)) cli.Flag {
	return Value(name, usage, to, func(text string) (v T, err error) {
		v, ok := parse(text)
		if !ok {
			err = wanted(want)
		}
		return v, err
	})
}

// named returns the name of a flag, and the short name that may follow it and a comma.
func named(names string) (name string, short []string) {
	all := strings.Split(names, ",")
	return all[0], all[1:]
}

// Text returns a flag for a text that is not empty.
func Text(name, usage string, to *string, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.StringFlag{Name: name, Aliases: short, Usage: usage, Destination: to, Value: *to}, append([]Condition{NotEmpty}, conditions...)...)
}

// Switch returns a flag without a value.
func Switch(name, usage string, to *bool, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.BoolFlag{Name: name, Aliases: short, Usage: usage, Destination: to}, conditions...)
}

// Number returns a flag for a whole number; without the flag, to keeps its value.
func Number(name, usage string, to *int, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.IntFlag{Name: name, Aliases: short, Usage: usage, Destination: to, Value: *to}, conditions...)
}

// Share returns a flag for a share in percent; without the flag, to keeps its value.
func Share(name, usage string, to *float64, conditions ...Condition) cli.Flag {
	return Where(&cli.Float64Flag{Name: name, Usage: usage, Destination: to, Value: *to}, append([]Condition{percentage}, conditions...)...)
}

// Time returns a flag for a duration; without the flag, to keeps its value.
func Time(name, usage string, to *time.Duration, conditions ...Condition) cli.Flag {
	return Where(&cli.DurationFlag{Name: name, Usage: usage, Destination: to, Value: *to}, conditions...)
}

// Repeated returns a flag that may be repeated; without the flag, to keeps its values.
func Repeated(name, usage string, to *[]string, conditions ...Condition) cli.Flag {
	name, short := named(name)
	c := Where(&cli.StringSliceFlag{Name: name, Aliases: short, Usage: usage}, conditions...).(*conditionedFlag)
	c.all = func(values []string) error {
		*to = values
		return nil
	}
	return c
}

// ParsedAll is like Repeated, for values that parse reads.
func ParsedAll[T any](name, usage string, to *[]T, parse func(text string) (T, error)) cli.Flag {
	c := Where(&cli.StringSliceFlag{Name: name, Usage: usage}).(*conditionedFlag)
	c.all = func(values []string) error {
		*to = make([]T, 0, len(values))
		for _, text := range values {
			v, err := parse(text)
			if err != nil {
				return fmt.Errorf("--%s is %q%w", name, text, err)
			}
			*to = append(*to, v)
		}
		return nil
	}
	return c
}

// Word is a word that a flag may have as its value, and what it means.
type Word[T any] struct {
	Text  string
	Means T
}

// OneOf returns a flag whose value is one of a few words; without the flag, to keeps its value.
func OneOf[T any](name, usage string, to *T, words []Word[T]) cli.Flag {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.Text)
	}
	return described(Value(name, usage, to, func(text string) (v T, err error) {
		for _, w := range words {
			if w.Text == text {
				return w.Means, nil
			}
		}
		return v, wantedWord(text, texts)
	}), texts, false)
}

// Numbers returns the words for the numbers of a range.
func Numbers[T int | uint8](low, high T) (words []Word[T]) {
	for n := low; n <= high; n++ {
		words = append(words, Word[T]{strconv.Itoa(int(n)), n})
	}
	return words
}

// TextOrJSON are the words of --format of most commands.
var TextOrJSON = []Word[bool]{{FormatText, false}, {FormatJSON, true}}

// WordOf reads one of a few words, for ParsedAll.
func WordOf(words []string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", wantedWord(text, words)
		}
		return text, nil
	}
}

// wantedWord is the error of a text that is none of the words.
func wantedWord(text string, words []string) error { return wanted(Choice(words) + Meant(text, words)) }

// Want returns the error of a value that ParsedAll cannot read.
func Want(what string) error { return wanted(what) }

// Words returns a flag whose value is one of values.
func Words(f cli.Flag, values ...string) cli.Flag {
	return described(f, values, false, func(c *cli.Context, flag string) error {
		value, ok := c.Value(flag).(string)
		if !ok || slices.Contains(values, value) {
			return nil
		}
		return fmt.Errorf("--%s is %q%w", flag, value, wantedWord(value, values))
	})
}

// WordList returns a flag whose value is a list of values, which the command checks.
func WordList(f cli.Flag, values ...string) cli.Flag { return described(f, values, true) }

// Hints returns a flag for which completions offer values. The command checks its value.
func Hints(f cli.Flag, values ...string) cli.Flag { return described(f, values, false) }

func described(f cli.Flag, values []string, list bool, conditions ...Condition) cli.Flag {
	c := Where(f).(*conditionedFlag)
	c.words, c.conditions = &words{values, list}, append(conditions, c.conditions...)
	return c
}

// SizeFlag returns a flag for a number of bytes, more than 0. want says so in messages.
func SizeFlag(name, usage string, to *int64, want string) cli.Flag {
	return Parsed(name, usage, to, want, func(text string) (int64, bool) {
		n, ok := ParseSize(text)
		return n, ok && n > 0
	})
}

// ParseSize reads a number of bytes.
func ParseSize(text string) (int64, bool) {
	if text == "" {
		return 0, false
	}
	shift := 10 * (1 + strings.IndexByte("KMGT", text[len(text)-1]))
	if shift > 0 {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return int64(n) << shift, err == nil && n <= (1<<63-1)>>shift
}

// AddressFlag returns a flag for an address: hexadecimal digits, with or without 0x. Without the flag, to is nil.
func AddressFlag(name, usage string, to **uint64) cli.Flag {
	return Parsed(name, usage, to, "a hexadecimal address", func(text string) (*uint64, bool) {
		v, ok := ParseAddress(text)
		return &v, ok
	})
}

// ParseAddress reads an address.
func ParseAddress(text string) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
	return v, err == nil
}
