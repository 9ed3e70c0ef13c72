//go:build !js || tab

package include

import "embed"

//go:embed all:device
var files embed.FS
