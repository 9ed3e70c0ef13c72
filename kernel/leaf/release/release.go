// Package release has the version of this project. The kernel's replies, the command's
// --version and the wheel's name are made from it. It imports nothing.
package release

// Version is the version of the next or this release, in the form of PEP 440 and of Go.
const Version = "0.1.0"
