package markup

// escape begins a control sequence (ECMA-48, section 5.4). Sequences that set colors end with m (section
// 8.3.117).
const escape = "\x1b["

// Colors of answers and of the values in them, as the last digits of their parameters.
const (
	green = '2'
	blue  = '4'
	cyan  = '6'
)

// control reads a control sequence of the log that sets the style, and returns its length. It returns 0 for any
// other sequence.
func (f *Filter) control(text []byte) int {
	n := len(escape)
	if len(text) < n || text[1] != escape[1] {
		return 0
	}
	switch digits := text[n:]; {
	case len(digits) > 1 && digits[0] == '0' && digits[1] == 'm':
		f.resetStyle()
		return n + 2
	case len(digits) > 1 && digits[0] == '1' && digits[1] == 'm':
		f.style.bold = true
		f.sequence("1m")
		return n + 2
	case len(digits) > 2 && digits[0] == '3' && '0' <= digits[1] && digits[1] <= '7' && digits[2] == 'm':
		f.style.color = digits[1]
		f.sequence("0;3" + string(digits[1]) + "m")
		return n + 3
	}
	return 0
}

// sequence appends a control sequence, if the output has colors.
func (f *Filter) sequence(text string) {
	if f.Color {
		f.dst = append(append(f.dst, escape...), text...)
	}
}

// colored sets a color, and preserves bold.
func (f *Filter) colored(color byte) {
	if f.style.bold {
		f.sequence("0;1;3" + string(color) + "m")
		return
	}
	f.sequence("0;3" + string(color) + "m")
}

// highlight sets the color of an answer, at its beginning or after a value.
func (f *Filter) highlight() {
	if f.style.color == blue {
		f.colored(cyan)
		return
	}
	f.colored(blue)
}

// value appends a value in the color of values.
func (f *Filter) value(text string) {
	f.colored(green)
	f.dst = append(f.dst, text...)
	f.highlight()
}

// restore ends an answer by restoring the style of the log.
func (f *Filter) restore() {
	if f.style.color != 0 {
		f.colored(f.style.color)
		return
	}
	f.sequence("0m")
	if f.style.bold {
		f.sequence("1m")
	}
}

// resetStyle ends the style that the log's control sequences have set.
func (f *Filter) resetStyle() {
	if f.style != (style{}) {
		f.style = style{}
		f.sequence("0m")
	}
}
