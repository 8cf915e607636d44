// Package remote gets symbols over HTTP: NewServers asks symbol servers, and
// NewDebuginfod gives resolve.NewFetchingBinaries what debuginfod servers have.
//
// It is apart from package resolve so that a program that answers from files alone
// links no HTTP and no TLS.
package remote
