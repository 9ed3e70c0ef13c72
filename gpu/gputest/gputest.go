// Package gputest is the suite that every gpu.Device must pass: each device's
// own test is one call of Run.
//
// It checks the contract of the interface: memory, launches, their errors,
// streams, events, counters, faults, interrupts and use by several goroutines.
// It checks no instruction's arithmetic and asserts no times. It must not import a
// device.
package gputest

import (
	_ "embed"
	"errors"
	"math/rand/v2"
	"testing"

	"warpbook/gpu"
)

//go:embed gputest.ptx
var source string

// compiled is cooperative.cu: `go run ./gpu/nvrtc -release 12.0 gpu/gputest/cooperative.cu`.
//
//go:embed cooperative.sm_75.ptx
var compiled string

// seed makes the random data of all tests; failures print it.
const seed = 20261121

// Run checks the devices that open returns. Each test opens one and closes it.
func Run(t *testing.T, open func() (gpu.Device, error)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *suite)
	}{
		{"Info", testInfo},
		{"RoundTrip", testRoundTrip},
		{"View", testView},
		{"Place", testPlace},
		{"Copy", testCopy},
		{"Host", testHost},
		{"MemoryErrors", testMemoryErrors},
		{"Scale", testScale},
		{"Coordinates", testCoordinates},
		{"Parameters", testParameters},
		{"DynamicShared", testDynamicShared},
		{"StaticShared", testStaticShared},
		{"Globals", testGlobals},
		{"Structs", testStructs},
		{"StructErrors", testStructErrors},
		{"Cooperative", testCooperative},
		{"NotCooperative", testNotCooperative},
		{"Clusters", testClusters},
		{"ClusterErrors", testClusterErrors},
		{"Occupancy", testOccupancy},
		{"ClusterOccupancy", testClusterOccupancy},
		{"Zero", testZero},
		{"Unwritten", testUnwritten},
		{"ArgumentErrors", testArgumentErrors},
		{"ShapeErrors", testShapeErrors},
		{"ModuleErrors", testModuleErrors},
		{"Streams", testStreams},
		{"Events", testEvents},
		{"Graph", testGraph},
		{"GraphZero", testGraphZero},
		{"GraphFork", testGraphFork},
		{"GraphErrors", testGraphErrors},
		{"GraphGone", testGraphGone},
		{"GraphCooperative", testGraphCooperative},
		{"Async", testAsync},
		{"Textures", testTextures},
		{"Surfaces", testSurfaces},
		{"TextureErrors", testTextureErrors},
		{"Strings", testStrings},
		{"Time", testTime},
		{"Counters", testCounters},
		{"OutOfBounds", testOutOfBounds},
		{"Trap", testTrap},
		{"Keep", testKeep},
		{"Interrupt", testInterrupt},
		{"Goroutines", testGoroutines},
		{"Close", testClose},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, open: open}
			s.start()
			c.run(t, s)
		})
	}
}

// suite is a test with its device and the loaded module.
type suite struct {
	*testing.T
	open   func() (gpu.Device, error)
	device gpu.Device
	module gpu.Module
	random *rand.Rand
}

func (s *suite) start() {
	s.Helper()
	s.random = rand.New(rand.NewPCG(seed, 0))
	d, err := s.open()
	s.ok(err)
	s.device = d
	s.Cleanup(func() { d.Close() })
	s.module, err = d.Load("gputest.ptx", source)
	s.ok(err)
}

// ok ends the test if there is an error.
func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// is checks the kind of an error.
func (s *suite) is(err, kind error, what string) {
	s.Helper()
	if !errors.Is(err, kind) {
		s.Errorf("%s: error %v, expected one that wraps %q", what, err, kind)
	}
}

func (s *suite) entry(name string) gpu.Entry {
	s.Helper()
	e, err := s.module.Entry(name)
	s.ok(err)
	return e
}

// compiled is an entry of cooperative.cu.
func (s *suite) compiled(name string) gpu.Entry {
	s.Helper()
	m, err := s.device.Load("cooperative.sm_75.ptx", compiled)
	s.ok(err)
	e, err := m.Entry(name)
	s.ok(err)
	return e
}

// alloc makes a buffer with the contents of a slice of its type.
func (s *suite) alloc(t gpu.Type, n int, slice any) gpu.Buffer {
	s.Helper()
	b, err := s.device.Alloc(t, n)
	s.ok(err)
	if slice != nil {
		s.ok(b.Upload(slice))
	}
	return b
}

// floats makes n random numbers in [0, 1).
func (s *suite) floats(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = s.random.Float32()
	}
	return v
}

// run launches and waits.
func (s *suite) run(l gpu.Launch) error {
	if err := s.device.Launch(l); err != nil {
		return err
	}
	return s.device.Sync()
}
