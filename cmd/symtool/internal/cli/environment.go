package cli

// Environment lists the variables that the program reads, each with a flag: the commands with that
// Flag read it, or all without a flag.
var Environment = []struct{ Name, Flag, Text string }{
	{"DEBUGINFOD_URLS", "debuginfod", "The debuginfod servers, separated by blanks. Of elfutils' other variables DEBUGINFOD_CACHE_PATH, DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME, DEBUGINFOD_MAXSIZE and DEBUGINFOD_PROGRESS count, too."},
	{"XDG_CACHE_HOME", "symbol-cache", "The folder of caches, of which symtool/symbols keeps what comes from symbol servers."},
	{"NO_COLOR", "color", "If it is set and not empty, --color auto is never; so it is if TERM is dumb."},
	{"TMPDIR", "", "The folder of temporary files, for large inputs."},
}
