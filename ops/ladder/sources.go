package ladder

import "embed"

// Sources are this package's own, of which an environment block takes a hash.
//
//go:embed *[^t].go format.go
var Sources embed.FS
