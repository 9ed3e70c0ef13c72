package vectorcopy

import "embed"

// folder is this one, from the project's root.
const folder = "ops/vectorcopy"

//go:embed *.cu *.ptx.zst *[^t].go machine.json notes.md peers measured
var files embed.FS
