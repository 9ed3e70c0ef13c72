//go:build edited

package engine

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/goplus/reflectx"
)

type (
	aStruct    struct{ A, B int }
	aMap       map[string]int
	aSlice     []int
	anArray    [3]int
	aChan      chan int
	aFunc      func(int, string) (bool, error)
	anInt      int
	aString    string
	anEmbedder struct{ aMap }
)

func (aStruct) M(int) string { return "" }
func (aMap) M(int) string    { return "" }
func (aSlice) M(int) string  { return "" }
func (anArray) M(int) string { return "" }
func (aChan) M(int) string   { return "" }
func (aFunc) M(int) string   { return "" }
func (anInt) M(int) string   { return "" }
func (aString) M(int) string { return "" }

// TestLayouts compares the engine's description of types with that of the runtime of
// this Go, kind by kind: where they differ, the engine reads methods from the wrong
// place.
func TestLayouts(t *testing.T) {
	for _, v := range []any{aStruct{}, aMap{}, aSlice{}, anArray{}, aChan(nil), aFunc(nil), anInt(0), aString(""), anEmbedder{}, &aStruct{}, &aMap{}} {
		rt := reflect.TypeOf(v)
		if n := reflectx.NumMethodX(rt); n != 1 {
			t.Errorf("%s: the layout of %s types has changed: %d methods of %v, expected 1: see kernel/edited", runtime.Version(), rt.Kind(), n, rt)
			continue
		}
		if m, want := reflectx.MethodX(rt, 0), rt.Method(0); m.Name != want.Name || m.Type != want.Type {
			t.Errorf("%s: the layout of %s types has changed: method %s %v, expected %s %v: see kernel/edited", runtime.Version(), rt.Kind(), m.Name, m.Type, want.Name, want.Type)
		}
		named := reflectx.NamedTypeOf("main", "Copy", rt)
		if named.Kind() != rt.Kind() || named.Size() != rt.Size() || named.NumMethod() != 0 || named.String() != "main.Copy" {
			t.Errorf("%s: a %s type that the engine makes: %v of %d bytes with %d methods", runtime.Version(), rt.Kind(), named, named.Size(), named.NumMethod())
		}
	}
	m := reflect.MakeMap(reflectx.NamedTypeOf("main", "Map", reflect.TypeFor[map[string][4]int]()))
	for i := range 1000 {
		m.SetMapIndex(reflect.ValueOf(string(rune(i))), reflect.ValueOf([4]int{3: i}))
	}
	for i := range 1000 {
		if got := m.MapIndex(reflect.ValueOf(string(rune(i)))); !got.IsValid() || got.Index(3).Int() != int64(i) {
			t.Fatalf("%s: a map of a type that the engine makes: element %d is %v", runtime.Version(), i, got)
		}
	}
}
