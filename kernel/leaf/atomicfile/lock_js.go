package atomicfile

import "os"

// flock succeeds: in a browser tab no other process has the files.
func flock(*os.File) error { return nil }
