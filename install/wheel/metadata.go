package wheel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"warpbook/kernel/edited"
	"warpbook/kernel/leaf/release"
	"warpbook/kernel/licences"
)

// metadata are the files by which pip knows the wheel, and the licences of what is in it.
// The packages of its extras are those that the compilers of %%cuda are tested with.
func metadata(ctx context.Context, root, hash string, p Platform) ([]entry, error) {
	env, programs := []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch}, []string{"./kernel/cells", "./kernel/warpbook", "./kernel/warpbook-kernel", "./gpu/nvrtc"}
	if p.Worker {
		env, programs = append(env, "CGO_ENABLED=1"), append(programs, "-tags="+edited.Tags+",cuda", "./gpu/cuda/worker")
	}
	slices.SortFunc(programs, strings.Compare) // flags first
	parts, err := licences.Of(ctx, root, env, programs...)
	if err != nil {
		return nil, err
	}
	text := "Metadata-Version: 2.1\nName: warpbook\nVersion: " + release.Version + `
Summary: Go notebooks for GPU operator experiments: a Jupyter kernel in Go, and CUDA kernels on a GPU or an emulator
License: Apache-2.0
Requires-Python: >=3.8
Description-Content-Type: text/markdown
Provides-Extra: cuda
Provides-Extra: clang
`
	for _, wheel := range nvrtc {
		text += "Requires-Dist: " + wheel + "; platform_machine == 'x86_64' and extra == 'cuda'\n"
	}
	text += "Requires-Dist: " + clang + "; extra == 'clang'\n" + `
Go notebooks for GPU operator experiments.

    pip install jupyterlab warpbook
    warpbook notebooks notebooks
    jupyter lab notebooks/01-reduce.ipynb

` + "`warpbook doctor` tells what is installed. `pip install 'warpbook[cuda]'` adds the compiler of `%%cuda` cells, " +
		"`'warpbook[clang]'` one that needs no NVIDIA wheels. Without a network: `pip download -d WHEELS jupyterlab './warpbook-....whl[clang]'` " +
		"on a machine with one, `pip install --no-index --find-links WHEELS jupyterlab 'warpbook[clang]'` here.\n"
	entries := []entry{
		{name: info + "METADATA", text: []byte(text)},
		{name: info + "WHEEL", text: fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: warpbook %s\nRoot-Is-Purelib: false\nTag: py3-none-%s\n", release.With(hash), p.Tag)},
	}
	for _, part := range parts {
		entries = append(entries, entry{name: info + "licenses/" + part.File(), text: part.Text})
	}
	return entries, nil
}

// The packages of the extras.
var nvrtc = []string{"nvidia-cuda-nvrtc-cu12==12.0.140", "nvidia-cuda-runtime-cu12==12.0.146", "nvidia-cuda-cccl-cu12==12.9.27", "nvidia-cuda-nvcc-cu12==12.0.140"}

const clang = "ziglang==0.17.1"
