package cuda

import (
	"fmt"

	"warpbook/gpu"
)

// releases say which PTX a version of CUDA brought, and the first driver that
// has that version.
var releases = []struct {
	cuda   int64 // as the driver gives it: 12040 for 12.4
	ptx    gpu.Version
	driver int
}{
	{11000, gpu.Version{Major: 7, Minor: 0}, 450},
	{11010, gpu.Version{Major: 7, Minor: 1}, 455},
	{11020, gpu.Version{Major: 7, Minor: 2}, 460},
	{11030, gpu.Version{Major: 7, Minor: 3}, 465},
	{11040, gpu.Version{Major: 7, Minor: 4}, 470},
	{11050, gpu.Version{Major: 7, Minor: 5}, 495},
	{11060, gpu.Version{Major: 7, Minor: 6}, 510},
	{11070, gpu.Version{Major: 7, Minor: 7}, 515},
	{11080, gpu.Version{Major: 7, Minor: 8}, 520},
	{12000, gpu.Version{Major: 8, Minor: 0}, 525},
	{12010, gpu.Version{Major: 8, Minor: 1}, 530},
	{12020, gpu.Version{Major: 8, Minor: 2}, 535},
	{12030, gpu.Version{Major: 8, Minor: 3}, 545},
	{12040, gpu.Version{Major: 8, Minor: 4}, 550},
	{12050, gpu.Version{Major: 8, Minor: 5}, 555},
	{12070, gpu.Version{Major: 8, Minor: 6}, 565},
	{12080, gpu.Version{Major: 8, Minor: 7}, 570},
	{12090, gpu.Version{Major: 8, Minor: 8}, 575},
	{13000, gpu.Version{Major: 9, Minor: 0}, 580},
	{13010, gpu.Version{Major: 9, Minor: 1}, 590},
}

// newestPTX is the newest PTX version that a driver loads. A driver newer than this
// table is assumed to load every version of its own major version.
func newestPTX(cuda int64) gpu.Version {
	newest := gpu.Version{Major: 6, Minor: 5}
	for _, r := range releases {
		if r.cuda <= cuda {
			newest = r.ptx
		}
	}
	if last := releases[len(releases)-1]; cuda > last.cuda {
		newest.Minor = 99
	}
	return newest
}

// driverFor names the first driver that loads a version of PTX.
func driverFor(v gpu.Version) string {
	for _, r := range releases {
		if v.Major < r.ptx.Major || v.Major == r.ptx.Major && v.Minor <= r.ptx.Minor {
			return fmt.Sprintf("install driver %d or later, or compile with CUDA before %d.%d", r.driver, r.cuda/1000, r.cuda%1000/10)
		}
	}
	return "compile with an older CUDA"
}
