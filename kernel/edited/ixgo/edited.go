//go:build ignore

package ixgo

// Edited says that this is the edited copy. A program without it does not start.
const Edited = true
