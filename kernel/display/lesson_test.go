package display

import (
	"strings"
	"testing"
)

// A lesson fails where a statement is false, and shows which.
func TestLesson(t *testing.T) {
	right := NewLesson().Say("Prose, 100 %").Claim(true, "%d is less than %d", 1, 2).Find(false, "fast", "slow")
	data, _, err := Draw(right)
	if want := "Prose, 100 %\n\n✓ 1 is less than 2\n\nslow"; err != nil || data[textMarkdown] != want || data[textPlain] != want {
		t.Errorf("%v, %v, expected %q", data, err, want)
	}
	data, _, err = Draw(right.Claim(false, "2 is less than %d", 1))
	if err == nil || err.Error() != "display: lesson: false by the figures: 2 is less than 1" || !strings.Contains(data[textPlain].(string), "✗") {
		t.Errorf("%v, %v, expected the false statement", data, err)
	}
	few := NewLesson().Provided(true, "never").Provided(false, "%d is too few.", 3).Claim(false, "false").Find(true, "yes", "no").Say("Prose.")
	if data, _, err := Draw(few); err != nil || data[textPlain] != "3 is too few.\n\nProse." {
		t.Errorf("%v, %v, expected the reason in place of statements", data, err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Show of a false statement did not panic")
		}
	}()
	Show(right)
}
