package conv2d

import "warpbook/ops/ladder"

// shape is Shape of conv2d.cuh.
type shape struct {
	Images, C, D, H, W, K, T, R, S, OD, OH, OW uint32
	Stride, Dilation, Groups                   uint32
	Padding, DepthPadding                      int32
	Bias, ReLU                                 uint32
	XN, XC, XD, XH, XW                         uint32
	WK, WC, WT, WR, WS                         uint32
	YN, YK, YD, YH, YW                         uint32
}

// shape is the call as the kernels take it: C and K are the channels of a group.
func (o Options) shape(size ladder.Size) shape {
	x := o.of(size)
	p := shape{
		Images: uint32(x.n), C: uint32(x.c / o.Groups), D: uint32(x.d), H: uint32(x.h), W: uint32(x.w), K: uint32(x.k / o.Groups),
		T: uint32(x.t), R: uint32(x.r), S: uint32(x.s), OD: uint32(x.od), OH: uint32(x.oh), OW: uint32(x.ow),
		Stride: uint32(o.Stride), Dilation: uint32(o.Dilation), Groups: uint32(o.Groups), Padding: int32(o.Padding),
	}
	if o.Depth {
		p.DepthPadding = int32(o.Padding)
	}
	if o.Bias {
		p.Bias = 1
	}
	if o.ReLU {
		p.ReLU = 1
	}
	// Strides of the tensor (a, b, d, h, w), of which b is the channel.
	strides := func(b, d, h, w int) (ofA, ofB, ofD, ofH, ofW uint32) {
		if o.NHWC {
			return uint32(d * h * w * b), 1, uint32(h * w * b), uint32(w * b), uint32(b)
		}
		return uint32(b * d * h * w), uint32(d * h * w), uint32(h * w), uint32(w), 1
	}
	p.XN, p.XC, p.XD, p.XH, p.XW = strides(x.c, x.d, x.h, x.w)
	p.WK, p.WC, p.WT, p.WR, p.WS = strides(x.c/o.Groups, x.t, x.r, x.s)
	p.YN, p.YK, p.YD, p.YH, p.YW = strides(x.k, x.od, x.oh, x.ow)
	return p
}
