// A program that is ended by C.
package main

/*
#include <stdlib.h>
__attribute__((noinline)) void fail(int n) { if (n) abort(); }
*/
import "C"

//go:noinline
func call(n int) { C.fail(C.int(n)) }

func main() { call(1) }
