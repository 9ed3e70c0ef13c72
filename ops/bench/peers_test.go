package bench

import (
	"strings"
	"testing"

	"warpbook/gpu"
	"warpbook/gpu/device/devicetest"
	"warpbook/ops/bench/sample"
	"warpbook/ops/ladder"
)

// Peers compute plain operators: one with settings of its own has none, and the error gives the reason.
func TestPeersOfSettings(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		o := *sample.Operator
		o.Parameters = []ladder.Parameter{{Name: "alpha", Value: 1, Default: 1}, {Name: "beta", Value: 2}}
		b := newBench(t, device, &o, 1, 3)
		p, err := b.Peers()
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(p.Notes(), "\n"); len(p.Figures) > 0 || !strings.Contains(notes, "peers, which compute the operator without alpha = 1, beta = 2") {
			t.Errorf("%v, %s", p.Figures, notes)
		}
	})
}

// A parameter that the peers take goes to them, and is no reason to leave them out.
func TestPeersTake(t *testing.T) {
	o := *sample.Operator
	o.Parameters = []ladder.Parameter{{Name: "alpha", Value: 1, Default: 1}, {Name: "beta", Value: 2}}
	o.PeersTake = []string{"beta"}
	devicetest.Each(t, func(t *testing.T, device gpu.Device) {
		b := newBench(t, device, &o, 1, 3)
		if got := strings.Join(settings(&o), " "); got != "beta=2" {
			t.Errorf("settings %q, expected beta=2", got)
		}
		if why := noPeers(&o, b.Method, device.Info()); strings.Contains(why, "without") {
			t.Errorf("no peers: %s", why)
		}
	})
}
