package triangles

import "embed"

// folder is this one, from the project's root.
const folder = "ops/triangles"

//go:embed *.cu *.ptx.zst *[^t].go part.go machine.json notes.md peers measured
var files embed.FS
