package sparse

import "embed"

// folder is this one, from the project's root.
const folder = "ops/sparse"

//go:embed *.cu *.cuh *.ptx.zst *[^t].go convert.go machine.json notes.md peers measured
var files embed.FS
