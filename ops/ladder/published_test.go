package ladder

import "testing"

// The notes do not say the size of every figure: such a figure is shown beside those of
// the nearest size, and its size is not invented.
func TestPublishedNear(t *testing.T) {
	v := Variant{Published: []Figure{{Value: 1, Unit: "ms", Size: Size{100}}, {Value: 2, Unit: "ms", Size: Size{1000}}, {Value: 3, Unit: "ms"}}}
	near := v.PublishedNear(Size{900})
	if len(near) != 2 || near[0].Value != 2 || near[1].Value != 3 {
		t.Errorf("near 900: %v, expected 2 ms and 3 ms", near)
	}
	if at := near[1].At(); at != "a size that the notes do not say" {
		t.Errorf("a figure without a size is at %q", at)
	}
}
