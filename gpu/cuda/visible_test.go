package cuda

import "testing"

// CUDA_VISIBLE_DEVICES, of four GPUs: CUDA stops at the first name that it does not know.
func TestVisible(t *testing.T) {
	for names, want := range map[string]int{
		"": 0, "-1": 0, "0": 1, "3": 1, "4": 0, "0,1": 2, "1, 0": 2, "2,-1,3": 1, "0,0": 1, "x,1": 0,
		"GPU-afe69737-3ced-6806-4408-1a18a7126f04": 1, "GPU-a,GPU-b,9": 2, "MIG-c": 1,
	} {
		if got := visible(names, 4); got != want {
			t.Errorf("CUDA_VISIBLE_DEVICES=%s shows %d of 4 GPUs, expected %d", names, got, want)
		}
	}
}
