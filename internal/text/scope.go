package text

// LastPart returns the name of a type or function without its enclosing scopes: Point<a::B> for x::Point<a::B>.
func LastPart(name string) string {
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case '>':
			if name[i-1] != '-' { // not the > of an arrow
				depth++
			}
		case ')', '}', ']':
			depth++
		case '<', '(', '{', '[':
			depth--
		case ':':
			if depth == 0 && name[i-1] == ':' {
				return name[i+1:]
			}
		}
	}
	return name
}
