# Prints the frames of all threads that gdb finds: "thread LWP", and for each frame its kind, pc and name. It runs in gdb.
import gdb

kinds = {gdb.INLINE_FRAME: "inline", gdb.TAILCALL_FRAME: "tailcall", gdb.SIGTRAMP_FRAME: "signal"}
for thread in gdb.selected_inferior().threads():
    thread.switch()
    print("thread", thread.ptid[1])
    frame, n = gdb.newest_frame(), 0
    while frame is not None and n < 300:
        print("frame", kinds.get(frame.type(), "normal"), hex(frame.pc()), frame.name() or "??")
        try:
            frame, n = frame.older(), n + 1
        except gdb.error:
            break
