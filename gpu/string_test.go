package gpu

import "testing"

func TestChecksString(t *testing.T) {
	for c, want := range map[Checks]string{
		0: "default", CheckNone: "none", CheckRaces | CheckBounds: "races|bounds", 1 << 12: "0x1000",
		CheckAll: "uninitialized|races|bounds|alignment|freed|barriers|masks|division|races of threads",
	} {
		if got := c.String(); got != want {
			t.Errorf("%#x: %s, want %s", uint16(c), got, want)
		}
	}
}
