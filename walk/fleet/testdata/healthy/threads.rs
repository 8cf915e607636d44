// Threads of Rust wait for a channel, a lock, each other, and in a closure that a panic has unwound to.
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;

struct Waits;

impl Drop for Waits {
    fn drop(&mut self) {
        if thread::panicking() {
            loop {
                thread::park();
            }
        }
    }
}

fn panics(n: u32) -> u32 {
    let _w = Waits;
    if n == 0 {
        panic!("here");
    }
    panics(n - 1) + 1
}

fn main() {
    let (_tx, rx) = mpsc::channel::<u32>();
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let theirs = pair.clone();
    let all = vec![
        thread::spawn(move || rx.recv().unwrap_or(0)),
        thread::spawn(move || {
            let mut done = theirs.0.lock().unwrap();
            while !*done {
                done = theirs.1.wait(done).unwrap();
            }
            1
        }),
        thread::spawn(|| panics(3)),
    ];
    for t in all {
        t.join().unwrap();
    }
}
