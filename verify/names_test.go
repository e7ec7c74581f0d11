package verify

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNames: kernels and parameters have the names of the source, or none where it does not decide.
func TestNames(t *testing.T) {
	require.Equal(t, "ns::flag<int>", Plain("_ZN2ns4flagIiEEvPiS1_"))
	require.Equal(t, "plain", Plain("plain"))
	source := `// __global__ void flag(int *wrong, int *names);
namespace ns { template <typename T = int> __global__ void __launch_bounds__(64, 2)
flag(std::map<int, T> *data, volatile T (&flag)[2] /* , n */); }
__global__ void two(int a, float *b = nullptr) {} __global__ void two(int c, int d) {}
__global__ void once(unsigned int n, const float *__restrict__ in, int list[4]) {}`
	for _, c := range []struct {
		symbol string
		n      int
		want   []string
	}{
		{"_Z4oncejPKfPi", 3, []string{"n", "in", "list"}},
		{"_Z4oncejPKfPi", 2, nil},
		{"_Z3twoiPf", 2, nil},
		{"_Z7missingi", 1, nil},
	} {
		require.Equal(t, c.want, ParamNames(source, c.symbol, c.n), c.symbol)
	}
}
