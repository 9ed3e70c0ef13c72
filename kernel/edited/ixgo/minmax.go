//go:build ignore

package ixgo

import "reflect"

// makeMinMax calls pick for the arguments of min or max, from left to right.
func makeMinMax(ir register, ia []register, pick func(x, y value) value) func(fr *frame) {
	return func(fr *frame) {
		v := fr.reg(ia[0])
		for _, i := range ia[1:] {
			v = pick(v, fr.reg(i))
		}
		fr.setReg(ir, v)
	}
}

// least is min(x, y) as Go defines it: NaN if one of them is, and -0 before 0.
func least(x, y value) value {
	switch x := x.(type) {
	case int:
		return min(x, y.(int))
	case float64:
		return min(x, y.(float64))
	case string:
		return min(x, y.(string))
	}
	vx, vy := reflect.ValueOf(x), reflect.ValueOf(y)
	if vx.CanFloat() {
		return floatOf(vx.Type(), min(vx.Float(), vy.Float()))
	}
	if less(vy, vx) {
		return y
	}
	return x
}

// greatest is max(x, y) as Go defines it.
func greatest(x, y value) value {
	switch x := x.(type) {
	case int:
		return max(x, y.(int))
	case float64:
		return max(x, y.(float64))
	case string:
		return max(x, y.(string))
	}
	vx, vy := reflect.ValueOf(x), reflect.ValueOf(y)
	if vx.CanFloat() {
		return floatOf(vx.Type(), max(vx.Float(), vy.Float()))
	}
	if less(vx, vy) {
		return y
	}
	return x
}

// less orders integers and strings.
func less(x, y reflect.Value) bool {
	switch {
	case x.CanInt():
		return x.Int() < y.Int()
	case x.CanUint():
		return x.Uint() < y.Uint()
	}
	return x.String() < y.String()
}

func floatOf(t reflect.Type, f float64) value {
	v := reflect.New(t).Elem()
	v.SetFloat(f)
	return v.Interface()
}
