package server

import "testing"

func TestIsComplete(t *testing.T) {
	for code, want := range map[string]isCompleteReply{
		"":                                    {Status: "complete"},
		"  \n":                                {Status: "complete"},
		"// why":                              {Status: "complete"},
		"x := 1":                              {Status: "complete"},
		"x; // why\ny":                        {Status: "complete"},
		"import \"fmt\"\nfmt.Println(1)":      {Status: "complete"},
		"func f() {\n}\nf()":                  {Status: "complete"},
		"type T[K any] struct{ k K }":         {Status: "complete"},
		"for i := 0; i < 3; i++ {\n}":         {Status: "complete"},
		"package main\nfunc main() {}":        {Status: "complete"},
		"s := `two\nlines`":                   {Status: "complete"},
		"%who":                                {Status: "complete"},
		"%who 'a\nf(1,":                       {Status: "incomplete", Indent: "\t"},
		"x := 1\n%time f(":                    {Status: "complete"},
		"x := a +\n%who":                      {Status: "invalid"},
		"fmt.Println?":                        {Status: "complete"},
		"%%bash\nls":                          {Status: "unknown"},
		"func f() {":                          {Status: "incomplete", Indent: "\t"},
		"if x {\n\tfor {\n\t\tf(":             {Status: "incomplete", Indent: "\t\t\t"},
		"x :=":                                {Status: "incomplete"},
		"x := 1 +":                            {Status: "incomplete"},
		"f(1,":                                {Status: "incomplete", Indent: "\t"},
		"s := `two\nlines":                    {Status: "incomplete"},
		"/* begins":                           {Status: "incomplete"},
		"x.":                                  {Status: "incomplete"},
		"type T struct":                       {Status: "incomplete"},
		"x := )":                              {Status: "invalid"},
		"f(]":                                 {Status: "invalid"},
		"}{":                                  {Status: "invalid"},
		"} x :=":                              {Status: "invalid"},
		"x y":                                 {Status: "invalid"},
		"for x y z {}":                        {Status: "invalid"},
		"x := \"not closed":                   {Status: "invalid"},
		"func f() { x := \"not closed":        {Status: "invalid"},
		"func 5() {}":                         {Status: "invalid"},
		"import 7":                            {Status: "invalid"},
		"x := 1 \x00":                         {Status: "invalid"},
		"var \xff = 1":                        {Status: "invalid"},
		"import \"fmt\" fmt.Println(\"one\")": {Status: "invalid"},
	} {
		got, err := isComplete(nil, isCompleteRequest{Code: code})
		if err != nil || *got != want {
			t.Errorf("%q: %+v, %v, want %+v", code, *got, err, want)
		}
	}
}
