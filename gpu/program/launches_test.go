package program

import "testing"

// Launches as editors part them are launches, and nothing else changes.
func TestJoined(t *testing.T) {
	for text, want := range map[string]string{
		"k<<<1, 2>>>(x);":                            "k<<<1, 2>>>(x);",
		"k << <1, 2 >> > (x);":                       "k <<< 1, 2 >>>  (x);",
		"k<8> <<<g, b >> > (x);\nk<8><< <g, b>>>();": "k<8> <<<g, b >>>  (x);\nk<8><<< g, b>>>();",
		"vector<vector<vector<int>> > v; a << b;":    "vector<vector<vector<int>> > v; a << b;",
		`s = "k << <1>> >()"; // k << <1>> >()`:      `s = "k << <1>> >()"; // k << <1>> >()`,
		`friend ostream &operator<< <T>(V<T>);`:      `friend ostream &operator<< <T>(V<T>);`,
		`q = '"'; s = "k << <1>> >()"; a<< <1>> >()`: `q = '"'; s = "k << <1>> >()"; a<<< 1>>> ()`,
		"k<<<1, 2;\nvector<vector<vector<int>> > v;": "k<<<1, 2;\nvector<vector<vector<int>> > v;",
	} {
		if got := joined(text); got != want {
			t.Errorf("%q\n got %q\nwant %q", text, got, want)
		}
	}
}
