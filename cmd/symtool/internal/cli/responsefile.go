package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

const (
	// maxResponseFiles is the maximum number of @FILEs in a call, including nested ones, in case
	// a file names itself. The number is libiberty's.
	maxResponseFiles = 2000
	// maxResponseSize is the maximum size of a response file in bytes.
	maxResponseSize = 64 << 20
)

// expandArgs replaces each argument @FILE by the arguments in FILE, recursively, as GNU programs
// do. If FILE does not exist, the argument stays as it is. The program's name is not expanded.
func expandArgs(args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	out := args[:1:1]
	todo := [][]string{args[1:]} // a stack: when the last list is used up, the one before continues after its @FILE
	for read := 0; len(todo) > 0; {
		list := &todo[len(todo)-1]
		if len(*list) == 0 {
			todo = todo[:len(todo)-1]
			continue
		}
		arg := (*list)[0]
		*list = (*list)[1:]
		text, ok, err := responseFile(arg)
		if err != nil {
			return nil, Usagef("", "%s: %v", arg, err)
		}
		if !ok {
			out = append(out, arg)
			continue
		}
		if read++; read > maxResponseFiles {
			return nil, Usagef("", "%s: more than %d response files: perhaps one names itself", arg, maxResponseFiles)
		}
		todo = append(todo, splitArgs(text))
	}
	return out, nil
}

// responseFile returns the text of the response file that an argument names. ok is false if it
// does not name one.
func responseFile(arg string) (text string, ok bool, err error) {
	if len(arg) < 2 || arg[0] != '@' {
		return "", false, nil
	}
	f, err := os.Open(arg[1:])
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, bin.WithoutPath(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxResponseSize+1))
	if err != nil {
		return "", false, bin.WithoutPath(err)
	}
	if len(data) > maxResponseSize {
		return "", false, &bin.Error{Msg: "a response file over 64 MiB"}
	}
	if at := strings.IndexByte(string(data), 0); at >= 0 {
		return "", false, &bin.Error{Offset: uint64(at), Msg: "a NUL byte, which arguments cannot contain"}
	}
	// Some editors and shells on Windows write a byte order mark before UTF-8.
	return strings.TrimPrefix(string(data), "\ufeff"), true, nil
}

// splitArgs splits the text of a response file (GCC's manual, "@file"). White space
// separates arguments except within single or double quotes; a backslash escapes
// any character, in quotes as well. Quotes may begin and end inside an argument. An
// unterminated argument ends with the text.
func splitArgs(text string) (args []string) {
	var (
		arg   []byte
		open  bool // an argument has begun
		quote byte // 0 outside quotes
	)
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			open = true
			if i++; i < len(text) {
				arg = append(arg, text[i])
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			arg = append(arg, c)
		case c == '\'' || c == '"':
			open, quote = true, c
		case isBlank(c):
			if open {
				args = append(args, string(arg))
			}
			arg, open = arg[:0], false
		default:
			open = true
			arg = append(arg, c)
		}
	}
	if open {
		args = append(args, string(arg))
	}
	return args
}

// isBlank is C's isspace.
func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
