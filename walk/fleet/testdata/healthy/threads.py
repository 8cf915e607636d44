# Threads of Python wait in the interpreter and in C that the interpreter has called.
import ctypes, threading, time

CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

def compare(a, b):
    time.sleep(1000)
    return 0

def sorts():
    values = (ctypes.c_int * 3)(3, 2, 1)
    ctypes.CDLL(None).qsort(values, 3, 4, CALLBACK(compare))

def recurses(n):
    return recurses(n - 1) if n else threading.Event().wait()

for target in (sorts, lambda: recurses(20), lambda: sorted([2, 1], key=lambda x: time.sleep(1000))):
    threading.Thread(target=target).start()
