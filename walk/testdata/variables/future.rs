// A program that crashes in an async function, with threads and closures.
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{mpsc, Arc, RwLock};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

struct Yield(u32);
impl Future for Yield {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        if self.0 == 0 {
            return Poll::Ready(11);
        }
        self.0 -= 1;
        Poll::Pending
    }
}

#[derive(Default, Debug)]
struct State {
    names: Vec<String>,
    ratio: f32,
}

async fn inner(state: Arc<RwLock<State>>, id: u64) -> u64 {
    let label = format!("task {id}");
    let waited = Yield(2).await;
    let mut guard = state.write().unwrap();
    guard.names.push(label.clone());
    guard.ratio += waited as f32;
    let index = black_box(id as usize + 100);
    if id == 2 {
        let bad: *const u64 = black_box(std::ptr::null());
        return unsafe { std::ptr::read_volatile(bad) } + index as u64;
    }
    black_box(&label);
    index as u64
}

async fn outer(state: Arc<RwLock<State>>, base: u64) -> u64 {
    let mut sum = 0;
    for i in base..base + 3 {
        let part = inner(state.clone(), i).await;
        sum += part;
    }
    sum
}

fn waker() -> Waker {
    fn clone(_: *const ()) -> RawWaker {
        RawWaker::new(std::ptr::null(), &TABLE)
    }
    fn nothing(_: *const ()) {}
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, nothing);
    unsafe { Waker::from_raw(clone(std::ptr::null())) }
}

fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let mut future = Box::pin(future);
    let waker = waker();
    let mut context = Context::from_waker(&waker);
    let mut polls = 0;
    loop {
        polls += 1;
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return (value, polls);
        }
    }
}

fn main() {
    let state = Arc::new(RwLock::new(State::default()));
    let (send, receive) = mpsc::channel::<Option<u64>>();
    let worker = {
        let state = Arc::clone(&state);
        std::thread::spawn(move || {
            let (value, polls) = block_on(outer(state, 1));
            send.send(Some(value)).unwrap();
            polls
        })
    };
    let got = receive.recv();
    println!("{got:?} {:?}", worker.join());
}
