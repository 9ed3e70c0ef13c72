//go:build !linux

package cuda

import (
	"fmt"
	"os"
	"runtime"

	"warpbook/gpu"
)

func mapShared() (*os.File, []byte, error) {
	return nil, nil, fmt.Errorf("%w: CUDA on %s, expected linux", gpu.ErrUnsupported, runtime.GOOS)
}

func release(*os.File, []byte, span) {}
