package results

import "embed"

// Sources are the sources of this package, a part of what a figure depends on.
//
//go:embed *[^t].go environment.go format.go
var Sources embed.FS
