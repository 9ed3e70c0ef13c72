package cellproc

import (
	"fmt"
	"os"
	"testing"

	"warpbook/kernel/cellproc/fakecells"
)

const fakeEnv = "WARPBOOK_TEST_FAKE_CELLS"

// TestMain runs this binary as a cells program when the environment says so.
func TestMain(m *testing.M) {
	switch os.Getenv(fakeEnv) {
	case "":
		os.Exit(m.Run())
	case "stillborn":
		fmt.Fprintln(os.Stderr, "no such device")
		os.Exit(7)
	}
	fakecells.Main()
}
