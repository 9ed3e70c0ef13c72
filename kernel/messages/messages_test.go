package messages

import (
	"fmt"
	"strings"
	"testing"
)

func use(t *testing.T, tag string) {
	t.Helper()
	if err := SetLanguage(tag); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { current.Store(nil) })
}

// with replaces the catalogue of the test by these entries.
func with(t *testing.T, entries map[string]string) {
	current.Store(newCatalogue(entries))
	t.Cleanup(func() { current.Store(nil) })
}

func TestText(t *testing.T) {
	with(t, map[string]string{
		"barriers": "同步", "device: %s; date: %s": "设备：%s；日期：%s", "emulator of %s": "%s 的模拟器",
		"%s, seed %d": "%s，种子 %d", "uniform": "均匀分布",
		"%d of %d elements, the first %s": "%[2]d 个元素中有 %[1]d 个，第一个是 %[3]s",
		"100 %% of %s waits":              "%s 全部在等",
		"%.1f us against %.1f":            "%.1f us 对 %.1f us",
		"takes %.0f %% of it":             "占 %.0f %%",
		"%s of %s":                        "%[2]s 的 %[1]s", // matches too much: not used
		"for":                             "用于",
	})
	for english, want := range map[string]string{
		"":                        "",
		"barriers":                "同步",
		" barriers\n":             " 同步\n",
		"barriers\nnames":         "同步\nnames",
		"reduce_v0: barriers":     "reduce_v0：同步",
		"reduce_v0: names":        "reduce_v0: names",
		"names; barriers":         "names；同步",
		"names; others":           "names; others",
		"Barriers":                "Barriers",
		"reduce_v0":               "reduce_v0",
		"sum of terms":            "sum of terms",
		"for (int i; i < n; i++)": "for (int i; i < n; i++)",
		"device: x; date: y":      "设备：x；日期：y",
		"device: emulator of H200; date: uniform": "设备：H200 的模拟器；日期：均匀分布",
		"uniform, seed 7":                         "均匀分布，种子 7",
		"uniform, seed x":                         "uniform, seed x",
		"3 of 9 elements, the first a":            "9 个元素中有 3 个，第一个是 a",
		"100 % of it waits":                       "it 全部在等",
		"2.0 us against 13.5":                     "2.0 us 对 13.5 us",
		"takes 95 % of it":                        "占 95 %",
	} {
		if got := Text(english); got != want {
			t.Errorf("%q: %q, expected %q", english, got, want)
		}
	}
}

func TestSprintf(t *testing.T) {
	with(t, map[string]string{
		"One of %d lanes: %.1f %%.": "%d 个 lane 中的一个：%.1f %%。",
		"%s takes %d us":            "要 %[2]d us：%[1]s",
		"a copy":                    "复制",
		"4 % of it":                 "它的 4 %",
	})
	for _, test := range []struct {
		format, want string
		values       []any
	}{
		{"One of %d lanes: %.1f %%.", "32 个 lane 中的一个：3.1 %。", []any{32, 3.125}},
		{"%s takes %d us", "要 7 us：复制", []any{"a copy", 7}},
		{"4 % of it", "它的 4 %", nil},
		{"%s", "复制", []any{"a copy"}},
		{"unknown %v", "unknown [1 2]", []any{[]int{1, 2}}},
	} {
		if got := Sprintf(test.format, test.values...); got != test.want {
			t.Errorf("%q: %q, expected %q", test.format, got, test.want)
		}
	}
}

// TestEnglish: in English every text is what package fmt makes of it.
func TestEnglish(t *testing.T) {
	for _, tag := range []string{"", "en", "EN-gb"} {
		use(t, tag)
		if !English() || Language() != "en" {
			t.Errorf("language %q is %s, expected en", tag, Language())
		}
		const format = "total, %s (us)"
		if got, want := Sprintf(format, "barriers"), fmt.Sprintf(format, "barriers"); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
		if got := Text("barriers; bank conflicts"); got != "barriers; bank conflicts" {
			t.Errorf("%q, expected the text itself", got)
		}
	}
}

func TestSetLanguage(t *testing.T) {
	use(t, "zh-Hans-CN")
	if got := Text("barriers"); Language() != "zh-CN" || got != "同步" {
		t.Errorf("language %s, barriers are %q", Language(), got)
	}
	if err := SetLanguage("fr"); err == nil || !strings.Contains(err.Error(), "expected en or zh") || Language() != "zh-CN" {
		t.Errorf("fr: error %v, then language %s, expected an error and zh-CN", err, Language())
	}
	t.Setenv(Variable, "xx")
	if err := SetFromEnvironment(); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("error %v, expected one that names %s", err, Variable)
	}
	if In("en", "barriers") != "barriers" || In("zh-CN", "barriers") != "同步" {
		t.Error("In does not translate into the named language alone")
	}
}
