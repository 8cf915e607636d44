// Iterators and closures in optimized code, nested enums, slices of enums, maps, boxed futures.
#![allow(dead_code)]

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};

#[derive(Debug, Clone)]
enum Token {
    Number(f64),
    Word(String),
    List(Vec<Token>),
    Pair(Box<Token>, Option<Box<Token>>),
    End,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Level {
    Low = -3,
    High = 70,
}

#[derive(Debug)]
enum Outer<'a> {
    Inner(Result<Level, &'a str>),
    Deep { level: Option<Level>, tokens: &'a [Token] },
    Range(std::ops::RangeInclusive<u8>),
}

struct Machine<'a, F: Fn(u32) -> u32> {
    step: F,
    tokens: &'a [Token],
    seen: HashSet<u16>,
    cache: RefCell<HashMap<String, u32>>,
    hits: Cell<u32>,
    queue: VecDeque<i16>,
}

#[inline(never)]
fn crash(code: u32, outer: &Outer, name: &str) -> u32 {
    let p = std::hint::black_box(std::ptr::null::<u32>());
    let copied = code + name.len() as u32;
    if let Outer::Deep { level, tokens } = outer {
        let first = tokens.first();
        std::hint::black_box((level, first));
        return copied + unsafe { p.read_volatile() };
    }
    copied
}

impl<'a, F: Fn(u32) -> u32> Machine<'a, F> {
    #[inline(never)]
    fn run(&mut self, start: u32) -> u32 {
        let words: Vec<&str> = self.tokens.iter().filter_map(|t| match t {
            Token::Word(w) => Some(w.as_str()),
            _ => None,
        }).collect();
        let lengths = words.iter().enumerate().map(|(i, w)| (self.step)(w.len() as u32 + i as u32)).fold(start, |sum, n| sum + n);
        self.hits.set(self.hits.get() + lengths);
        let mut all: Box<dyn Iterator<Item = u32>> = Box::new((0..lengths).step_by(2).zip(1..).map(|(a, b)| a * b));
        let last = all.by_ref().take(3).last().unwrap_or(1);
        let outer = Outer::Deep { level: Some(Level::High), tokens: &self.tokens[1..] };
        let other = [Outer::Inner(Err("none")), Outer::Inner(Ok(Level::Low)), Outer::Range(3..=last as u8)];
        let sum = crash(last, &outer, words[0]);
        std::hint::black_box((&other, &all as *const _));
        sum + self.queue.len() as u32
    }
}

fn parse(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move {
        let label = format!("depth {depth}");
        let inner: u32 = if depth > 0 { parse(depth - 1).await } else { work(label.len() as u32) };
        inner + label.len() as u32
    })
}

#[inline(never)]
fn work(start: u32) -> u32 {
    let factor = Arc::new(3u32);
    let shared = Rc::new(RefCell::new(vec![Level::Low, Level::High]));
    let tokens = [
        Token::Number(1.5),
        Token::Word("alpha".to_string()),
        Token::List(vec![Token::End, Token::Number(-2.0)]),
        Token::Pair(Box::new(Token::Word("β".to_string())), None),
        Token::Word("gamma".to_string()),
    ];
    let mut machine = Machine {
        step: { let factor = factor.clone(); move |n| n * *factor + 1 },
        tokens: &tokens,
        seen: [3, 5].into_iter().collect(),
        cache: RefCell::new([("k".to_string(), 9)].into_iter().collect()),
        hits: Cell::new(2),
        queue: VecDeque::from([1, -2]),
    };
    let sum = machine.run(start);
    let cached = machine.cache.borrow().len() + shared.borrow().len();
    sum + cached as u32 + machine.seen.len() as u32
}

fn main() {
    fn clone(_: *const ()) -> RawWaker { RawWaker::new(std::ptr::null(), &TABLE) }
    fn nothing(_: *const ()) {}
    static TABLE: RawWakerVTable = RawWakerVTable::new(clone, nothing, nothing, nothing);
    let waker = unsafe { Waker::from_raw(clone(std::ptr::null())) };
    let mut context = Context::from_waker(&waker);
    let mut future = parse(std::env::args().count() as u32);
    if let Poll::Ready(n) = future.as_mut().poll(&mut context) {
        println!("{n}");
    }
}
