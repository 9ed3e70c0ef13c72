package run

import "embed"

// Sources are the sources of this package, a part of what a figure depends on.
//
//go:embed *[^t].go
var Sources embed.FS
