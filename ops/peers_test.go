package ops

import (
	"strings"
	"testing"

	"warpbook/gpu"
)

// Peers compute plain operators: one with settings of its own has none, and says so.
func TestPeersOfSettings(t *testing.T) {
	eachDevice(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, GemmWith(GemmOptions{Alpha: 1, Beta: 2}), 1, 3, 3, 3)
		p, err := b.Peers()
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(p.Notes(), "\n"); len(p.Figures) > 0 || !strings.Contains(notes, "peers, which compute the operator without alpha = 1, beta = 2") {
			t.Errorf("%v, %s", p.Figures, notes)
		}
	})
}
