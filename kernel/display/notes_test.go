package display

import (
	"strings"
	"testing"
)

// Notes on how and where a figure was made are folded in HTML, below the device; plain
// text has them all.
func TestFoldedNotes(t *testing.T) {
	table := NewTable("n").Row(1).Note("ratio: a divided by b").Note("method: each once").Note("device: NVIDIA X (sm_90); data: random")
	data, _ := Of(table)
	page := data[textHTML].(string)
	if !strings.Contains(page, "<p><small>ratio: a divided by b</small></p>") ||
		!strings.Contains(page, "<summary><small>NVIDIA X (sm_90): method and environment</small></summary><small>method: each once<br>device: ") {
		t.Error(page)
	}
	if text := data[textPlain].(string); !strings.Contains(text, "method: each once\ndevice: NVIDIA X") {
		t.Error(text)
	}
}
