//! as its own main
//! right ^7$
//@ 003:575
