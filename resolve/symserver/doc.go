// Package symserver implements an HTTP server that serves symbol files and debug files, symbolicates
// addresses with them and, if Config.AcceptUploads is set, adds to its first store what clients send. New
// returns the http.Handler.
//
//	GET  /NAME/ID/STEM.sym            a symbol file, as symbol suppliers ask for it;
//	                                  also STEM.sym.gz and .sym.zst, if stored so
//	GET  /NAME/ID/NAME                a Windows program or a PDB, as Microsoft's symbol
//	                                  servers have it
//	GET  /buildid/HEX/debuginfo       debuginfod(8), "WEBAPI": a debug file,
//	GET  /buildid/HEX/executable      an executable,
//	GET  /buildid/HEX/section/NAME    the bytes of a section of one of the two,
//	GET  /buildid/HEX/source/PATH     a source file
//	POST /symbolicate/v5, /v4         Mozilla's symbolication API (Tecken's
//	                                  documentation, "Symbolication"; Eliot)
//	GET  /                            a page for people: what the stores have and lack
//	GET  /metrics                     Prometheus' text format 0.0.4
//	GET  /healthz, /readyz            200 when the process is up; when its folders are
//	                                  readable and it is not shutting down
//
// Uploads, by clients with a token:
//
//	PUT  /NAME/ID/STEM.sym            a symbol file, also compressed; STEM.vars; a program
//	                                  or a PDB at /NAME/ID/NAME
//	POST /upload                      sym-upload-v1 (Breakpad's symupload), or a zip as
//	                                  Tecken takes it
//	POST /v1/uploads:create, PUT /v1/uploads/KEY, POST /v1/uploads/KEY:complete,
//	GET  /v1/symbols/NAME/ID:checkStatus
//	                                  sym-upload-v2 (Breakpad's symbol_collector_client)
//
// # Files
//
// Nothing outside the folders is ever opened: names are checked like those written to a store
// (resolve/store), and files are opened through an os.Root, so that a symbolic link cannot lead out of its
// folder. From a store, only symbol files, programs and PDBs in their places are served, which are always
// complete, but no temporary file, index or lock.
//
// A symbol file may be stored plain or compressed. A client that accepts the compression gets the
// bytes as they are, with Content-Encoding; others get the text. Entity tags are made of the
// file's size, its time and the encoding, so they change whenever a file is written. Ranges apply
// to files that are sent as they are stored; a text that is decompressed has none, and no length
// in advance.
//
// Executables and debug files are looked for as .build-id/xx/yyyy(.debug), buildid/HEX/executable
// or debuginfo, and xx/yyyy/executable or debuginfo. Without a debug file, an executable with
// DWARF serves as one. Sources are files at the path of their URL: buildid/HEX/source/PATH, PATH
// without "..", "." and double slashes.
//
// # Symbolication
//
// A symbol file is indexed once, when a request first needs it, even if several do at the same
// time. It is kept until more than Config.CacheSize is in memory. A file that changes is indexed
// again.
//
// # Where we differ
//
//   - from Tecken: 404 has a text; HEAD for a compressed file that the client does not
//     accept has no length. Missing files are not downloaded from elsewhere.
//   - from Tecken as a server of uploads: symbol files are read to their end before they are stored,
//     and one that differs from what is there is refused with 409, while Tecken replaces it; without
//     a known token the answer is 401 instead of 403.
//   - from Eliot: modules of any name are looked for, while Eliot refuses requests
//     with names outside of a small set of characters; a boolean is not a number; numbers
//     of stacks, frames and modules are limited; there is no "debug" in answers.
//   - from debuginfod: files are found by their paths, not by a scan of archives and
//     folders; X-DEBUGINFOD-FILE is the path below the folder; there is no
//     X-DEBUGINFOD-ARCHIVE.
package symserver
