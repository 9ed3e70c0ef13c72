package emu

import (
	"math"
	"os"
	"slices"

	"warpbook/gpu"
)

var userCases = []userCase{
	{name: "sum_into_one", kind: gpu.ErrRace, plain: true,
		says: []string{"hazard on element 0 (byte 0) of", "argument 1", "atomicAdd"},
		run: func(c *caseRun) {
			in, y := c.floats(64, func(int) float32 { return 1 }), c.floats(1, zero[float32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(int) float32 { return 64 })
		}},
	{name: "life_in_place", kind: gpu.ErrRace, plain: true, says: []string{"hazard on element", "no barrier stands between", "another buffer"},
		run: func(c *caseRun) {
			const w, h = 16, 16
			start := func(i int) int32 { return int32(i*i%7%2+i%3%2*(i%5%2)) & 1 }
			from, y := c.ints(w*h, start), c.ints(w*h, start)
			c.launch(x(1), gpu.Dim{X: w, Y: h}, from, y, int32(w), int32(h))
			same(c, y, 0, func(i int) int32 {
				alive := int32(0)
				for r := -1; r <= 1; r++ {
					for k := -1; k <= 1; k++ {
						if r != 0 || k != 0 {
							alive += start((i/w+r+h)%h*w + (i%w+k+w)%w)
						}
					}
				}
				if alive == 3 || alive == 2 && start(i) == 1 {
					return 1
				}
				return 0
			})
		}},
	{name: "histogram_by_plus", kind: gpu.ErrRace, plain: true, says: []string{"atomicAdd"},
		run: func(c *caseRun) {
			in, y := c.ints(500, func(i int) int32 { return int32(i * 3) }), c.ints(8, zero[int32])
			c.launch(x(4), x(128), in, y, int32(500))
			same(c, y, 0, func(bin int) (n int32) {
				for i := range 500 {
					if i*3%8 == bin {
						n++
					}
				}
				return n
			})
		}},
	{name: "two_passes_one_buffer", kind: gpu.ErrRace, plain: true, says: []string{"__syncwarp() there, __syncthreads() if other warps"},
		run: func(c *caseRun) {
			in, y := c.ints(128, func(i int) int32 { return int32(i) }), c.ints(128, zero[int32])
			c.launch(x(1), x(128), in, y)
			same(c, y, 0, func(i int) int32 { return int32(max(0, 3*(i-1)) + i) })
		}},
	{name: "sum_without_lock", kind: gpu.ErrRace, plain: true, says: []string{"read-after-write hazard", "atomicAdd"},
		run: func(c *caseRun) {
			in, y, lock := c.ints(256, func(i int) int32 { return int32(i) }), c.ints(1, zero[int32]), c.ints(1, zero[int32])
			c.launch(x(1), x(256), in, y, lock)
			same(c, y, 0, func(int) int32 { return 32 * 28 })
		}},
	{name: "flag_of_all", kind: gpu.ErrRace, plain: true, says: []string{"both threads run this instruction"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i % 6) }), c.ints(1, zero[int32])
			c.launch(x(1), x(64), in, y)
			if same(c, y, 63, func(int) int32 { return 1 }); c.wrong == "" && c.err == nil && c.checks != 0 && !hasNote(c.warnings) {
				c.Error("stores of equal values have no note")
			}
		}},

	{name: "row_behind_odd_floats", kind: gpu.ErrMisaligned, plain: true, says: []string{"multiple of 16"},
		run: func(c *caseRun) {
			const n = 384
			at := func(i int) float32 { return float32(i%9) - 4 }
			in, y := c.floats(n, at), c.floats(n, zero[float32])
			c.shared = 4 * (n + 8)
			c.launch(x(1), x(96), in, y, int32(n))
			squares := 0.0
			for i := range n {
				squares += float64(at(i)) * float64(at(i))
			}
			same(c, y, 1e-5, func(i int) float32 { return float32(float64(at(i)) / math.Sqrt(squares/n)) })
		}},
	{name: "tile_loop_without_last_barrier", kind: gpu.ErrRace, says: []string{"write-after-read hazard on byte", "__syncthreads() there: if both lines are in a loop, as its last statement"},
		run: func(c *caseRun) {
			const n = 256
			at := func(i int) float32 { return float32(i * 13 % 101) }
			in, y := c.floats(n, at), c.floats(n, zero[float32])
			c.launch(x(4), x(64), in, y, int32(n))
			same(c, y, 1e-2, func(i int) (sum float32) {
				for k := range n {
					sum += float32(math.Abs(float64(at(i) - at(k))))
				}
				return sum
			})
		}, values: true},
	{name: "neighbour_of_same_step", kind: gpu.ErrRace, says: []string{"hazard on byte", "__syncthreads()"}, values: true,
		run: func(c *caseRun) {
			const n = 20
			in, y := c.floats(n, func(i int) float32 { return float32(i % 4) }), c.floats(n, zero[float32])
			c.launch(x(1), x(64), in, y, int32(n))
			want := values(n, func(i int) float32 { return float32(i % 4) })
			for range 64 {
				var s float32
				for i := range want {
					s = 0.5*s + want[i]
					want[i] = s
				}
			}
			same(c, y, 1e5, func(i int) float32 { return want[i] })
		}},
	{name: "last_block_without_fence", kind: gpu.ErrRace, says: []string{"read-after-write hazard", "block (0,0,0) thread (0,0,0) wrote it", "put __threadfence() between the store and it"},
		run: func(c *caseRun) {
			in, part := c.floats(512, func(int) float32 { return 1 }), c.floats(16, zero[float32])
			done, y := c.ints(1, zero[int32]), c.floats(1, zero[float32])
			c.launch(x(16), x(32), in, part, done, y)
			same(c, y, 0, func(int) float32 { return 512 })
		}},
	{name: "phases_without_syncwarp", kind: gpu.ErrRace, says: []string{"__syncwarp()"},
		run: func(c *caseRun) {
			at := func(i int) uint32 { return uint32(i * i) }
			pair := func(i int) uint32 { return at(i)*31 + at(i+1) }
			four := func(i int) uint32 { return pair(i)*31 + pair(i+2) }
			in, y := up(c, gpu.Uint32, values(32, at)), up(c, gpu.Uint32, make([]uint32, 4))
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) uint32 { return four(8*i)*31 + four(8*i+4) })
		}},
	{name: "tree_without_barriers", kind: gpu.ErrRace, says: []string{"hazard on byte", "of shared variable", "__syncthreads()"}, plainKind: gpu.ErrUninitialized, plain: true,
		run: func(c *caseRun) {
			in, y := c.floats(1024, func(int) float32 { return 1 }), c.floats(4, zero[float32])
			c.launch(x(4), x(256), in, y)
			same(c, y, 0, func(int) float32 { return 256 })
		}},
	{name: "bins_not_cleared", kind: gpu.ErrUninitialized, plain: true, says: []string{"of shared variable s"},
		run: func(c *caseRun) {
			at := func(i int) uint8 { return uint8(i * 31) }
			in, bins := up(c, gpu.Uint8, values(5000, at)), up(c, gpu.Uint32, make([]uint32, 256))
			c.launch(x(2), x(128), in, bins, int32(5000))
			want := make([]uint32, 256)
			for i := range 5000 {
				want[at(i)]++
			}
			same(c, bins, 0, func(i int) uint32 { return want[i] })
		}},
	{name: "commit_after_wait", kind: gpu.ErrUninitialized, plain: true, says: []string{"which cp.async at", "its thread has not waited"},
		run: func(c *caseRun) {
			in, y := c.ints(64*5, func(i int) int32 { return int32(i * 3) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y, int32(5))
			same(c, y, 0, func(i int) (sum int32) {
				for k := range 5 {
					sum += int32(3 * (64*k + 63 - i))
				}
				return sum
			})
		}},

	{name: "filter_of_short_image", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"bytes past a buffer"},
		run: func(c *caseRun) {
			const w, h, r = 40, 5, 7
			at := func(i int) float32 { return float32(i % 11) }
			in, out := c.floats(w*h, at), c.floats(w*h, zero[float32])
			c.launch(x(1), x(64), in, out, int32(w), int32(h), int32(r))
			same(c, out, 1e-5, func(i int) (sum float32) {
				for k := max(0, i/w-r); k <= min(h-1, i/w+r); k++ {
					sum += at(k*w + i%w)
				}
				return sum / (2*r + 1)
			})
		}},
	{name: "index_over_2_31", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"before", "its index overflowed 32 bits at cases.cu:226", "35999 * 60000 + 0 = 2159940000: compute it in 64 bits"},
		run: func(c *caseRun) { // of the last of 36 000 rows, whose bytes lie over 2^31
			const columns = 60000
			rows := 36000
			if c.ok && os.Getenv("WARPBOOK_LONG") == "" {
				rows = 3
			}
			bytes := rows * columns
			if !c.ok { // the product overflows whatever the size of the buffer is
				rows = 3
			}
			big, err := c.device.Alloc(gpu.Uint8, rows*columns)
			if err != nil {
				c.Fatal(err)
			}
			row, err := big.View((rows-1)*columns, columns)
			if err == nil {
				err = row.Upload(slices.Repeat([]uint8{7}, columns))
			}
			if err != nil {
				c.Fatal(err)
			}
			index, out := c.ints(1, func(int) int32 { return int32(bytes/columns - 1) }), up(c, gpu.Uint8, make([]uint8, columns))
			c.launch(x((columns+255)/256), x(256), big, index, out, int32(columns))
			same(c, out, 0, func(int) uint8 { return 7 })
		}},
	{name: "index_minus_one", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"start 4 bytes before it"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i * i) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 { return int32(max(0, 2*i-1)) })
		}},
	{name: "rows_as_columns", values: true,
		run: func(c *caseRun) {
			at := func(i int) int { return i * i / 7 % 5 }
			half := []uint16{0, 0x3c00, 0x4000, 0x4200, 0x4400} // 0 to 4
			factor := up(c, gpu.Float16, values(256, func(i int) uint16 { return half[at(i)] }))
			product := c.floats(256, zero[float32])
			c.launch(x(1), x(32), factor, factor, product)
			same(c, product, 1e-3, func(i int) (sum float32) {
				for k := range 16 {
					sum += float32(at(i/16*16+k) * at(k*16+i%16))
				}
				return sum
			})
		}},

	{name: "barrier_in_branch", kind: gpu.ErrBarrier, plain: true, says: []string{"16-63"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 {
				if i < 16 {
					return int32(i + 1)
				}
				return 0
			})
		}},
	{name: "barrier_of_first_warp", kind: gpu.ErrBarrier, plain: true, says: []string{"32-63"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 {
				if i < 32 {
					return int32(i + 32)
				}
				return 7
			})
		}},
	{name: "barrier_in_uneven_loop", kind: gpu.ErrBarrier, plain: true, says: []string{"16-63"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 { return int32(3*(63-i) + 3) })
		}},
	{name: "collective_in_branch", kind: gpu.ErrMask, plain: true,
		run: func(c *caseRun) {
			in, y := c.ints(300, func(int) int32 { return 1 }), c.ints(1, zero[int32])
			c.launch(x(3), x(128), in, y, int32(300))
			same(c, y, 0, func(int) int32 { return 300 })
		}},
	{name: "return_before_barrier", ends: true,
		run: func(c *caseRun) {
			const n = 50
			in, y := c.floats(n, func(i int) float32 { return float32(i) }), c.floats(n, zero[float32])
			c.launch(x(1), x(64), in, y, int32(n))
			same(c, y, 0, func(i int) float32 { return float32(n - 1 - i) })
		}},

	{name: "mask_of_first_half", kind: gpu.ErrMask, plain: true, says: []string{"lane 16 executes it and is not in its mask"},
		run: func(c *caseRun) {
			at := func(i int) float32 { return float32(i*37%53) - 20 }
			in, y := c.floats(64, at), c.floats(4, zero[float32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(g int) (most float32) {
				for i := 16 * g; i < 16*g+16; i++ {
					most = max(most, at(i), -at(i))
				}
				return most
			})
		}},
	{name: "ballot_in_uneven_loop", kind: gpu.ErrMask, plain: true, says: []string{"mask 0xffffffff names lanes 0, 5, 10, 15"},
		run: func(c *caseRun) {
			length := func(i int) int32 { return int32(1 + i%5) }
			in, y := c.ints(32, length), up(c, gpu.Uint32, make([]uint32, 32))
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) (votes uint32) {
				k := length(i) - 1
				for j := range 32 {
					if length(j) > k && k%2 == int32(j%2) {
						votes |= 1 << j
					}
				}
				return votes
			})
		}},
	{name: "vote_and_break", kind: gpu.ErrMask, plain: true, says: []string{"mask 0xffffffff names lane 0"},
		run: func(c *caseRun) {
			in, y := c.ints(32, func(i int) int32 { return int32(i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) int32 { return int32(i) })
		}},
	{name: "shuffle_in_branch", kind: gpu.ErrMask, plain: true, says: []string{"mask 0xffffffff names lanes 24-31"},
		run: func(c *caseRun) {
			in, y := c.ints(32, func(i int) int32 { return int32(i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) int32 {
				switch {
				case i >= 24:
					return int32(2 * i)
				case i%8 == 7:
					return int32(i)
				}
				return int32(i + 1)
			})
		}},

	{name: "flag_read_once", kind: gpu.ErrRace, plainKind: gpu.ErrHang, plain: true,
		run: func(c *caseRun) {
			flag, y := c.ints(1, zero[int32]), c.ints(1, zero[int32])
			c.launch(x(1), x(64), flag, y)
			same(c, y, 0, func(int) int32 { return 5 })
		}},
	{name: "flag_of_nobody", kind: gpu.ErrHang, plain: true, says: []string{"polls element 0 (byte 0) of"},
		run: func(c *caseRun) {
			flag, y := c.ints(1, zero[int32]), c.ints(3, zero[int32])
			c.launch(x(3), x(64), flag, y)
			same(c, y, 0, func(int) int32 { return 5 })
		}},
	{name: "own_grid_barrier", sms: 12, kind: gpu.ErrHang, plain: true, says: []string{"12 of the 14 blocks", "Cooperative: true"},
		run: func(c *caseRun) {
			const n = 64 * 14
			c.shared = 120 << 10 // one block has room on a multiprocessor
			at := func(i int) float32 { return float32(i % 100) }
			in, mid, arrived, y := c.floats(n, at), c.floats(n, zero[float32]), c.ints(1, zero[int32]), c.floats(n, zero[float32])
			c.launch(x(14), x(64), in, mid, arrived, y)
			same(c, y, 0, func(i int) float32 { return 2 * at(n-1-i) })
		}},
	{name: "cas_compares_floats", kind: gpu.ErrRace, plainKind: gpu.ErrHang, plain: true, says: []string{"atom.global.cas.b64"},
		run: func(c *caseRun) {
			in := up(c, gpu.Float64, values(64, func(i int) float64 {
				if i == 5 {
					return math.NaN()
				}
				return 0
			}))
			y := up(c, gpu.Float64, []float64{0})
			c.launch(x(1), x(64), in, y, int32(64))
			got := make([]float64, 1)
			if err := y.Download(got); err != nil || !math.IsNaN(got[0]) {
				c.wrong = "not NaN"
			}
		}},
	{name: "lock_across_syncwarp", kind: gpu.ErrHang, plain: true, says: []string{"polls element 0 (byte 0) of", "waits for other lanes at bar.warp.sync"},
		run: func(c *caseRun) {
			lock, y := c.ints(1, zero[int32]), c.ints(1, zero[int32])
			c.launch(x(1), x(32), lock, y)
			same(c, y, 0, func(int) int32 { return 32 })
		}},
	{name: "arrival_missing", kind: gpu.ErrHang, plain: true, says: []string{"mbarrier.test_wait"},
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 { return int32(63 - i) })
		}},

	{name: "chain_of_blocks", ends: true,
		run: func(c *caseRun) {
			const n = 300
			in, y := c.ints(n, func(i int) int32 { return int32(i + 1) }), c.ints(n, zero[int32])
			sum, ticket := c.ints(n, zero[int32]), c.ints(1, zero[int32])
			c.launch(x(n), x(1024), in, y, sum, ticket)
			same(c, y, 0, func(i int) int32 { return int32(i * (i + 1) / 2) })
		}},
	{name: "producer_and_consumer", ends: true,
		run: func(c *caseRun) {
			in, y := c.ints(20, func(i int) int32 { return int32(i*i + 1) }), c.ints(20, zero[int32])
			c.launch(x(2), x(32), in, y, c.ints(1, zero[int32]), c.ints(1, zero[int32]), c.ints(1, zero[int32]))
			same(c, y, 0, func(i int) int32 { return int32(i*i + 1) })
		}},
	{name: "spin_with_time_out", ends: true,
		run: func(c *caseRun) {
			flag, y := c.ints(1, zero[int32]), c.ints(32, zero[int32])
			c.launch(x(1), x(32), flag, y)
			same(c, y, 0, func(int) int32 { return 1 })
		}},
	{name: "lock_with_back_off", ends: true,
		run: func(c *caseRun) {
			lock, sum := c.ints(1, zero[int32]), c.ints(1, zero[int32])
			c.launch(x(3), x(256), lock, sum)
			same(c, sum, 0, func(int) int32 { return 24 })
		}},
	{name: "long_computation", ends: true,
		run: func(c *caseRun) {
			const n = 400_000
			in, y := c.ints(32, func(i int) int32 { return int32(i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y, int32(n))
		}},
	{name: "index_wraps_upwards", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"its index overflowed 32 bits at cases.cu:538", "= 5000000000: compute it in 64 bits"},
		run: func(c *caseRun) {
			in, y := c.ints(32, func(i int) int32 { return int32(i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y, int32(100000))
			same(c, y, 0, func(i int) int32 { return int32(i) })
		}},
	{name: "unsigned_minus_one", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"its index is 4294967295, which is -1 as an unsigned number of 32 bits"},
		run: func(c *caseRun) {
			in, y := c.ints(32, func(i int) int32 { return int32(i * i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) int32 { return int32(max(0, 2*i-1)) })
		}},
	{name: "unsigned_countdown", kind: gpu.ErrOutOfBounds, plain: true, says: []string{"its index is 4294967295, which is -1 as an unsigned number of 32 bits"},
		run: func(c *caseRun) {
			in, y := c.ints(32, func(i int) int32 { return int32(i) }), c.ints(32, zero[int32])
			c.launch(x(1), x(32), in, y)
			same(c, y, 0, func(i int) int32 { return int32(496 - i*(i-1)/2) })
		}},
	{name: "scale_of_thread_0", kind: gpu.ErrRace, plain: true, plainKind: gpu.ErrUninitialized, says: []string{"put __syncthreads() there"},
		plainSays: "put __syncwarp() there, __syncthreads() if other warps access it",
		run: func(c *caseRun) {
			in, y := c.ints(64, func(i int) int32 { return int32(i + 3) }), c.ints(64, zero[int32])
			c.launch(x(1), x(64), in, y)
			same(c, y, 0, func(i int) int32 { return int32(3 * (i + 3)) })
		}},
	{name: "block_times_grid", kind: gpu.ErrRace, values: true, says: []string{"write-after-write hazard on element", "nothing orders the blocks"},
		run: func(c *caseRun) {
			in, y := c.ints(256, func(i int) int32 { return int32(i) }), c.ints(256, zero[int32])
			c.launch(x(4), x(64), in, y)
			same(c, y, 0, func(i int) int32 { return int32(i * (i / 64)) })
		}},
	{name: "grid_loop_of_block", kind: gpu.ErrRace, values: true, says: []string{"write-after-write hazard on element 64", "nothing orders the blocks"},
		run: func(c *caseRun) {
			in, y := c.ints(512, func(i int) int32 { return int32(i) }), c.ints(512, zero[int32])
			c.launch(x(2), x(64), in, y, int32(512))
			same(c, y, 0, func(i int) int32 { return int32(i + i/64%2) })
		}},
}

func hasNote(warnings []*gpu.Fault) bool {
	return slices.ContainsFunc(warnings, func(f *gpu.Fault) bool { return f.Kind == gpu.ErrSameValue })
}
