package gemm

import "embed"

// folder is this one, from the project's root.
const folder = "ops/gemm"

//go:embed *.cu *.cuh *.ptx.zst *[^t].go machine.json notes.md peers measured
var files embed.FS
