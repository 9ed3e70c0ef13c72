//! as its own main, and the note's output: lane 31 gets -1
//! right ^Thread 31 got value: -1$
//! shows ^(Thread 31 got value: .*)$
//@ 000:1178
