// Go calls C, which calls Go, which calls C, which waits.
package main

/*
#include <unistd.h>
extern void goBack(int);
static void toC(int n) { if (n) goBack(n); else pause(); }
*/
import "C"

//export goBack
func goBack(n C.int) { C.toC(n - 1) }

func main() { C.toC(2) }
