package display

import (
	"errors"

	"gonum.org/v1/plot"
)

// vectors is a value whose picture is drawn as vectors only, in a tenth of the time: a
// PNG is for readers that show no SVG of a notebook that is not trusted. They show an
// image of a page, in which the SVG stands here.
type vectors struct{ value any }

func (v vectors) drawing() (data, metadata map[string]any, err error) {
	f, err := figureOf(v.value)
	switch {
	case err != nil:
		return ofChart(nil, err)
	case f == nil:
		data, metadata, err = bundleOf(v.value)
	default:
		quick := *f
		quick.vectors = true
		data, metadata, err = quick.drawing()
	}
	return data, metadata, errors.Join(err, addRecord(data, v.value))
}

// figureOf is the figure of a value that is shown as one, else nil.
func figureOf(v any) (*Figure, error) {
	switch v := v.(type) {
	case *Figure:
		return v, nil
	case interface{ Figure() (*Figure, error) }:
		if !ours(v) || isNil(v) {
			return nil, nil
		}
		return v.Figure()
	case bundler, tabler:
		return nil, nil
	case celler:
		return chartOf(v).Figure()
	case barrer:
		return barsOf(v).Figure()
	case *plot.Plot:
		return &Figure{Plot: v}, nil
	}
	return nil, nil
}
