package conv2d

import "embed"

// folder is this one, from the project's root.
const folder = "ops/conv2d"

//go:embed *.cu *.cuh *.ptx.zst *[^t].go conv2d_resident.go conv2d_split.go conv2d_tensor.go machine.json notes.md peers measured
var files embed.FS
