package dump

import (
	"errors"
	"strconv"
	"strings"
)

// ParseMapping parses a line of /proc/PID/maps (proc_pid_maps(5)), such as
// "7f90-7f91 r-xp 00001000 fd:01 123    /lib/libc.so.6".
func ParseMapping(line string) (m Mapping, ok bool) {
	var words [5]string
	for i := range words {
		words[i], line, _ = strings.Cut(strings.TrimLeft(line, " "), " ")
	}
	from, to, dash := strings.Cut(words[0], "-")
	start, err := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	offset, err3 := strconv.ParseUint(words[2], 16, 64)
	inode, err4 := strconv.ParseUint(words[4], 10, 64)
	flags := words[1]
	if !dash || errors.Join(err, err2, err3, err4) != nil || end <= start || len(flags) != 4 {
		return m, false
	}
	return Mapping{
		Range: Range{Addr: start, Size: end - start}, Read: flags[0] == 'r', Write: flags[1] == 'w', Exec: flags[2] == 'x', Shared: flags[3] == 's',
		Offset: offset, Device: words[3], Inode: inode, Path: strings.ReplaceAll(strings.TrimLeft(line, " "), `\012`, "\n"),
	}, true
}
