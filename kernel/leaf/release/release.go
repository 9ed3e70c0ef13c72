// Package release has the version of this project and the build of the running program.
// The kernel's replies, the command's --version and the wheel's name are made from it.
package release

import "strings"

// Version is the version of the next or this release, in the form of PEP 440 and of Go.
const Version = "0.1.0"

// build is a hash of the sources that the program was built from, which package cellbuild
// computes and Stamp writes. It is "" in a program of go run, go build or go test alone.
var build string

// Stamp is the linker's flag that writes a hash of the sources into a program. Equal
// sources make equal programs, in any folder and with or without git.
func Stamp(hash string) string { return "-X=warpbook/kernel/leaf/release.build=" + hash }

// Flag makes a program of an installation print its Name and end.
const Flag = "--version"

// Name is the version and the build of the running program, such as 0.1.0+1f2e3d4c5b6a7988.
func Name() string { return With(build) }

// With is the version of this program with another build, or alone if hash is "".
func With(hash string) string {
	if hash == "" {
		return Version
	}
	return Version + "+" + hash
}

// Same reports whether programs of two names are of one build, as far as the names say: a
// name without a build is of any build of its version.
func Same(a, b string) bool {
	version, buildA, known := strings.Cut(a, "+")
	other, buildB, also := strings.Cut(b, "+")
	return version == other && (!known || !also || buildA == buildB)
}
