package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// Condition checks what the use of a flag requires. It returns an error that says what is wrong, or nil.
type Condition func(c *cli.Context, flag string) error

// conditionedFlag is a flag with conditions, which are checked before the command runs if the flag is on.
type conditionedFlag struct {
	cli.DocGenerationFlag
	conditions []Condition
	words      *words               // or nil
	all        func([]string) error // takes the values of a flag that may be repeated, or nil
}

// words holds the values that a flag may have, for help, manual pages and completions.
type words struct {
	values []string
	list   bool // the value is a comma-separated list of them
}

// Where returns a flag with conditions, which are checked in order.
func Where(f cli.Flag, conditions ...Condition) cli.Flag {
	c, ok := f.(*conditionedFlag)
	if !ok {
		c = &conditionedFlag{DocGenerationFlag: f.(cli.DocGenerationFlag)}
	}
	c.conditions = append(c.conditions, conditions...)
	return c
}

// bare returns a flag without its conditions, and the words of the flag, if any.
func bare(f cli.Flag) (cli.DocGenerationFlag, *words) {
	if c, ok := f.(*conditionedFlag); ok {
		return c.DocGenerationFlag, c.words
	}
	return f.(cli.DocGenerationFlag), nil
}

// checkConditions checks the conditions of the flags that are on.
func checkConditions(c *cli.Context, flags []cli.Flag) error {
	for _, f := range flags {
		f, ok := f.(*conditionedFlag)
		if !ok || !On(c, f.Names()[0]) {
			continue
		}
		for _, condition := range f.conditions {
			if err := condition(c, f.Names()[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// On reports whether a flag was given, other than a switch that was given as false.
func On(c *cli.Context, flag string) bool {
	on, isSwitch := c.Value(flag).(bool)
	return c.IsSet(flag) && (on || !isSwitch)
}

// Given returns the names of the flags that were given, in the order of the help.
func Given(c *cli.Context) (names []string) {
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; c.IsSet(name) {
			names = append(names, name)
		}
	}
	return names
}

// NotEmpty requires a value that is not empty. Of a repeated flag, no value may be empty.
func NotEmpty(c *cli.Context, flag string) error {
	empty := false
	switch v := c.Value(flag).(type) {
	case string:
		empty = v == ""
	case cli.StringSlice:
		empty = slices.Contains(v.Value(), "")
	}
	if empty {
		return fmt.Errorf("--%s is empty", flag)
	}
	return nil
}

// Without returns a condition that rejects the flag together with any of others.
func Without(others ...string) Condition {
	return func(c *cli.Context, flag string) error {
		for _, other := range others {
			if c.IsSet(other) {
				return fmt.Errorf("--%s and --%s exclude each other", flag, other)
			}
		}
		return nil
	}
}

// With returns a condition that requires one of others, the flags to which this one belongs.
func With(others ...string) Condition {
	return func(c *cli.Context, flag string) error {
		if slices.ContainsFunc(others, func(other string) bool { return On(c, other) }) {
			return nil
		}
		return fmt.Errorf("--%s is for --%s", flag, strings.Join(others, " or --"))
	}
}

// Wanted returns a condition that requires a text for which is returns true; what describes such a text
// in messages.
func Wanted(what string, is func(text string) bool) Condition {
	return func(c *cli.Context, flag string) error {
		if text := c.String(flag); !is(text) {
			return fmt.Errorf("--%s is %q, want %s", flag, text, what)
		}
		return nil
	}
}

// Within returns a condition that requires a duration from low to high, inclusive.
func Within(low, high time.Duration) Condition {
	return func(c *cli.Context, flag string) error {
		if d := c.Duration(flag); d < low || d > high {
			return fmt.Errorf("--%s is %v, want %v to %v", flag, d, low, high)
		}
		return nil
	}
}

// Between returns a condition that requires a whole number from low to high, inclusive.
func Between(low, high int) Condition {
	return func(c *cli.Context, flag string) error {
		if n := c.Int(flag); n < low || n > high {
			return fmt.Errorf("--%s is %d, want %d to %d", flag, n, low, high)
		}
		return nil
	}
}

// AtLeast returns a condition that requires a whole number not less than low.
func AtLeast(low int) Condition {
	return func(c *cli.Context, flag string) error {
		if n := c.Int(flag); n < low {
			return fmt.Errorf("--%s is %d, want %d or more", flag, n, low)
		}
		return nil
	}
}

// percentage requires a number from 0 to 100.
func percentage(c *cli.Context, flag string) error {
	if p := c.Float64(flag); !(p >= 0 && p <= 100) { // also rejects NaN
		return fmt.Errorf("--%s is %v, want a percentage", flag, p)
	}
	return nil
}

// Choice formats words as alternatives for a message: "a, b or c".
func Choice(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
