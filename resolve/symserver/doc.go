// Package symserver implements a read-only HTTP server of symbol files and debug
// files, and of answers from them. New returns the http.Handler.
//
//	GET  /NAME/ID/STEM.sym            a symbol file, as symbol suppliers ask for it;
//	                                  also STEM.sym.gz and .sym.zst, if it is kept so
//	GET  /buildid/HEX/debuginfo       debuginfod(8), "WEBAPI": a debug file,
//	GET  /buildid/HEX/executable      an executable,
//	GET  /buildid/HEX/section/NAME    the bytes of a section of one of the two,
//	GET  /buildid/HEX/source/PATH     a source file
//	POST /symbolicate/v5, /v4         Mozilla's symbolication API (Tecken's
//	                                  documentation, "Symbolication"; Eliot)
//	GET  /metrics                     Prometheus' text format 0.0.4
//	GET  /healthz, /readyz            200 when the process is up; when its folders are
//	                                  readable and it is not about to end
//
// # Files
//
// Nothing outside the folders is ever opened: names are checked as those that are
// written into a store are (resolve/store), and files are opened below an os.Root, so
// that a symbolic link may lead to another place of its folder only. Of a store, only
// symbol files in their places are served, which appear whole; no temporary file,
// index or lock.
//
// A symbol file may be kept plain or compressed. A client that accepts the compression
// gets the bytes as they are, with Content-Encoding; others get the text. Entity tags
// are made of size and time of the file and the encoding: they change with any file
// that is written anew. Ranges are of files that are sent as they are kept; an unpacked
// text has none, and no length in advance.
//
// Executables and debug files are looked for as .build-id/xx/yyyy(.debug),
// buildid/HEX/executable or debuginfo, and xx/yyyy/executable or debuginfo. Where there
// is no debug file, an executable with DWARF is one. Sources are those that lie where
// their URL says: buildid/HEX/source/PATH, PATH without "..", "." and double slashes.
//
// # Symbolication
//
// A symbol file is indexed once, when a request needs it, also if several do at the
// same time, and kept until there is more in memory than Config.CacheSize; a file that
// changes is indexed anew.
//
// # Where we differ
//
//   - from Tecken: 404 has a text; a HEAD of a compressed file that the client does not
//     accept has no length. There is no download of missing files from elsewhere.
//   - from Eliot: a module of any name is looked for, whereas Eliot refuses requests
//     with names outside of a small set of characters; a boolean is not a number; numbers
//     of stacks, frames and modules are limited; there is no "debug" in answers.
//   - from debuginfod: files are found by their paths, not by a scan of archives and
//     folders; X-DEBUGINFOD-FILE is the path below the folder; there is no
//     X-DEBUGINFOD-ARCHIVE.
package symserver
