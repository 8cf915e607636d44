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

// wanted is the error for an invalid value; it says what the value must be.
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

// Value returns a flag whose value is parsed by parse. Without the flag, *to is unchanged. parse returns errors
// made by Want.
func Value[T any](name, usage string, to *T, parse func(text string) (T, error)) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &value[T]{to: to, parse: parse}}
}

// Parsed is like Value, for a parse function that only reports whether the text is valid; want says what is.
func Parsed[T any](name, usage string, to *T, want string, parse func(text string) (T, bool)) cli.Flag {
	return Value(name, usage, to, func(text string) (v T, err error) {
		v, ok := parse(text)
		if !ok {
			err = wanted(want)
		}
		return v, err
	})
}

// named splits the names of a flag, separated by a comma, into the name and the short name, if any.
func named(names string) (name string, short []string) {
	all := strings.Split(names, ",")
	return all[0], all[1:]
}

// Text returns a flag for a non-empty text.
func Text(name, usage string, to *string, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.StringFlag{Name: name, Aliases: short, Usage: usage, Destination: to, Value: *to}, append([]Condition{NotEmpty}, conditions...)...)
}

// Switch returns a flag without a value.
func Switch(name, usage string, to *bool, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.BoolFlag{Name: name, Aliases: short, Usage: usage, Destination: to}, conditions...)
}

// Number returns a flag for a whole number. Without the flag, *to is unchanged.
func Number(name, usage string, to *int, conditions ...Condition) cli.Flag {
	name, short := named(name)
	return Where(&cli.IntFlag{Name: name, Aliases: short, Usage: usage, Destination: to, Value: *to}, conditions...)
}

// Share returns a flag for a share in percent. Without the flag, *to is unchanged.
func Share(name, usage string, to *float64, conditions ...Condition) cli.Flag {
	return Where(&cli.Float64Flag{Name: name, Usage: usage, Destination: to, Value: *to}, append([]Condition{percentage}, conditions...)...)
}

// Time returns a flag for a duration. Without the flag, *to is unchanged.
func Time(name, usage string, to *time.Duration, conditions ...Condition) cli.Flag {
	return Where(&cli.DurationFlag{Name: name, Usage: usage, Destination: to, Value: *to}, conditions...)
}

// Repeated returns a flag that may be repeated. Without the flag, *to is unchanged.
func Repeated(name, usage string, to *[]string, conditions ...Condition) cli.Flag {
	name, short := named(name)
	c := Where(&cli.StringSliceFlag{Name: name, Aliases: short, Usage: usage}, conditions...).(*conditionedFlag)
	c.all = func(values []string) error {
		*to = values
		return nil
	}
	return c
}

// ParsedAll is like Repeated, for values that are parsed by parse.
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

// Word is a word that a flag may have as its value, and the meaning of the word.
type Word[T any] struct {
	Text  string
	Means T
}

// OneOf returns a flag whose value is one of words. Without the flag, *to is unchanged.
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

// Numbers returns the words for the numbers from low to high, inclusive.
func Numbers[T int | uint8](low, high T) (words []Word[T]) {
	for n := low; n <= high; n++ {
		words = append(words, Word[T]{strconv.Itoa(int(n)), n})
	}
	return words
}

// TextOrJSON has the words of --format for most commands. The value reports whether the format is JSON.
var TextOrJSON = []Word[bool]{{FormatText, false}, {FormatJSON, true}}

// WordOf returns a function for ParsedAll that accepts only words.
func WordOf(words []string) func(text string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", wantedWord(text, words)
		}
		return text, nil
	}
}

// wantedWord returns the error for a text that is not one of words.
func wantedWord(text string, words []string) error { return wanted(Choice(words) + Meant(text, words)) }

// Want returns the error for a value that cannot be parsed; what says what it must be.
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

// WordList returns a flag whose value is a comma-separated list of values, which the command checks.
func WordList(f cli.Flag, values ...string) cli.Flag { return described(f, values, true) }

// Hints returns a flag for which completions offer values. The command checks its value.
func Hints(f cli.Flag, values ...string) cli.Flag { return described(f, values, false) }

func described(f cli.Flag, values []string, list bool, conditions ...Condition) cli.Flag {
	c := Where(f).(*conditionedFlag)
	c.words, c.conditions = &words{values, list}, append(conditions, c.conditions...)
	return c
}

// SizeFlag returns a flag for a number of bytes greater than 0. want says in messages what the value must be.
func SizeFlag(name, usage string, to *int64, want string) cli.Flag {
	return Parsed(name, usage, to, want, func(text string) (int64, bool) {
		n, ok := ParseSize(text)
		return n, ok && n > 0
	})
}

// ParseSize parses a number of bytes. The number may end in K, M, G or T, powers of 1024.
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

// AddressFlag returns a flag for an address: hexadecimal digits, with or without 0x. Without the flag, *to is
// nil.
func AddressFlag(name, usage string, to **uint64) cli.Flag {
	return Parsed(name, usage, to, "a hexadecimal address", func(text string) (*uint64, bool) {
		v, ok := ParseAddress(text)
		return &v, ok
	})
}

// ParseAddress parses a hexadecimal address, with or without 0x.
func ParseAddress(text string) (uint64, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(text), "0x"), 16, 64)
	return v, err == nil
}
