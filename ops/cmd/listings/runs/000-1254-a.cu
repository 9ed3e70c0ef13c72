//! as its own main and data, all ones
//! right ^the ans is right$
//! shows ^(the ans is wrong)$
//@ 000:1254
