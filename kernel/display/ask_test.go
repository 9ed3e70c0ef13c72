package display

import (
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	if _, err := Ask("?"); err == nil || !strings.Contains(err.Error(), "no user to ask") {
		t.Errorf("without an asker: %v", err)
	}
	var asked []string
	SetAsker(func(prompt string, secret bool) (string, error) {
		if secret {
			prompt += "*"
		}
		asked = append(asked, prompt)
		return "answer", nil
	})
	defer asker.Store(nil)
	for _, f := range []func(string) (string, error){Ask, AskSecret} {
		if got, err := f("p"); err != nil || got != "answer" {
			t.Errorf("got %q, %v", got, err)
		}
	}
	if got := strings.Join(asked, " "); got != "p p*" {
		t.Errorf("asked %s", got)
	}
}
