package rtypes

import "reflect"

// Fresh are the methods that types have got from one cell, by type.
type Fresh map[reflect.Type]map[string]bool
