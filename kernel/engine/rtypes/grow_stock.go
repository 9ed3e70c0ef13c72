//go:build !edited

package rtypes

import (
	"errors"
	"go/types"
)

// Grow needs the edited engine library.
func (r *Registry) Grow(*types.Named, []string, Fresh) (undo func(), err error) {
	return nil, errors.New("rtypes: the engine library has no room for methods")
}

// Each needs the edited engine library.
func (r *Registry) Each(func(types.Type)) {}
