package vectorcopy

import (
	"testing"

	"warpbook/ops/optest"
)

func TestConformance(t *testing.T) { optest.Run(t, Operator) }

// Every rung that covers the vector with accesses of whole warps asks for the sectors
// of a copy; vectors take a quarter of the requests.
func TestRequests(t *testing.T) {
	const n = 1 << 16
	counts, err := optest.NewBench(t, optest.Emulator(t), Operator, 1, n).Count()
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range counts.Rows {
		floats := uint64(32) // of a request
		switch {
		case i == 0:
			floats = 1
		case i >= 5:
			floats = 128
		}
		load, store := row.Total.GlobalLoad, row.Total.GlobalStore
		if load.Requests != n/floats || store.Requests != n/floats {
			t.Errorf("%s: %d loads and %d stores, expected %d", row.Name, load.Requests, store.Requests, n/floats)
		}
		if sectors := max(n/8, load.Requests); load.Sectors != sectors || store.Sectors != sectors {
			t.Errorf("%s: %d sectors read and %d written, expected %d", row.Name, load.Sectors, store.Sectors, sectors)
		}
	}
}
