// Package remote gets symbols over HTTP: NewServers asks symbol servers, and NewDebuginfod, for
// use with supplier.NewFetchingBinaries, asks debuginfod servers.
//
// It is separate from package resolve so that a program that uses only files links no HTTP and
// no TLS.
package remote
