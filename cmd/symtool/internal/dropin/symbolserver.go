package dropin

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// symbolServers returns dump's flags for a configuration of symbol servers in the syntax of
// Microsoft's tools and Mozilla's dump_syms: parts separated by semicolons, each of them
// srv*[CACHE*]...PLACE, cache*CACHE, or a folder. PLACE is the URL of a server or a folder in the
// same layout. dump has a single cache, the first one named.
func symbolServers(config string) (flags []string, err error) {
	var urls, folders []string
	for _, part := range strings.FieldsFunc(config, func(r rune) bool { return r == ';' }) {
		fields := strings.Split(strings.TrimSpace(part), "*")
		kind := strings.ToLower(fields[0])
		places := slices.DeleteFunc(fields[1:], func(s string) bool { return s == "" })
		switch {
		case kind == "cache" && len(places) == 1:
			folders = append(folders, places[0])
		case kind == "srv" && len(places) > 0:
			last := len(places) - 1
			folders = append(folders, places[:last]...)
			if isURL(places[last]) {
				urls = append(urls, places[last])
			} else {
				folders = append(folders, places[last])
			}
		case len(fields) == 1 && kind != "" && kind != "srv" && kind != "cache":
			folders = append(folders, fields[0])
		default:
			return nil, fmt.Errorf("--symbol-server has %q, want srv*CACHE*URL, cache*CACHE or a folder", part)
		}
	}
	if i := slices.IndexFunc(folders, isURL); i >= 0 {
		return nil, fmt.Errorf("--symbol-server has the cache %q, want a folder", folders[i])
	}
	for _, url := range urls {
		flags = append(flags, "--symbol-url="+url)
	}
	if len(urls) > 0 && len(folders) > 0 {
		flags = append(flags, "--symbol-cache="+folders[0])
	}
	return append(flags, searched(folders)...), nil
}

// searched returns the flags for folders with debug files. It leaves out folders that do not exist:
// they are caches that are still empty. It adds the default folder, which the flags would otherwise
// replace.
func searched(folders []string) (flags []string) {
	for _, folder := range folders {
		if st, err := os.Stat(folder); err == nil && st.IsDir() {
			flags = append(flags, "--debug-dir="+folder)
		}
	}
	if flags != nil {
		flags = append(flags, "--debug-dir=/usr/lib/debug")
	}
	return flags
}

func isURL(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}
