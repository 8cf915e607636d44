import multiprocessing, subprocess, sys, time

def child(n):
    time.sleep(1000)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        subprocess.run(["sleep", "1000"])
    else:
        with multiprocessing.Pool(1) as pool:
            pool.map(child, [1])
