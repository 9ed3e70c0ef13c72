//go:build !tab

package include

import "embed"

// files is empty in the cells program of a browser, whose compiler is a program of its own.
var files embed.FS
