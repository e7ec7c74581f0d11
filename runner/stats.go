package runner

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the level of every interval and bound that is printed.
const Confidence = 0.95

// Interval is a range of a rate per instance, 0 to 1, both ends included.
type Interval struct{ Low, High float64 }

// RateInterval is the exact (Clopper–Pearson) 95 % confidence interval of a
// rate of which hits in n instances were seen: its ends are quantiles of beta
// distributions. It holds for independent instances; instances of one launch
// are not quite that, so of two settings only clearly separate intervals
// should be called different. n = 0 gives 0 to 1.
func RateInterval(hits, n uint64) Interval {
	hits = min(hits, n)
	if n == 0 {
		return Interval{0, 1}
	}
	const tail = (1 - Confidence) / 2
	k, m := float64(hits), float64(n)
	i := Interval{0, 1}
	switch {
	case hits == 0:
		i.High = none(n, tail)
	case hits == n:
		i.Low = 1 - none(n, tail)
	case hits > exactHits && n-hits > exactHits:
		return wilson(k, m)
	default:
		i.Low = betaQuantile(tail, k, m-k+1)
		i.High = betaQuantile(1-tail, k+1, m-k)
	}
	return i
}

// BlockInterval is RateInterval for instances that come in blocks whose members are
// taken to see the same: the blocks are what is independent. block is the number of
// instances of one, 1 if each stands for itself.
func BlockInterval(hits, n, block uint64) Interval {
	if block <= 1 {
		return RateInterval(hits, n)
	}
	blocks := max(n/block, min(n, 1))
	return Interval{RateInterval(hits/block, blocks).Low, RateInterval((hits+block-1)/block, blocks).High}
}

// exactHits is the number of hits (and of misses) beyond which Wilson's
// interval is used: there the two agree to better than a thousandth of the
// interval's width, and the quantiles would have to be searched for in vain
// precision.
const exactHits = 100000

// wilson is Wilson's score interval (E. B. Wilson, JASA 22, 1927).
func wilson(k, n float64) Interval {
	z := distuv.UnitNormal.Quantile((1 + Confidence) / 2)
	p := k / n
	z2 := z * z / n
	middle := (p + z2/2) / (1 + z2)
	half := z / (1 + z2) * math.Sqrt(p*(1-p)/n+z2/(4*n))
	return Interval{max(0, middle-half), min(1, middle+half)}
}

// betaQuantile finds x with P(X ≤ x) = p for a beta distribution by bisection
// in the exponent: hits of 10^11 instances make rates over many magnitudes.
func betaQuantile(p, a, b float64) float64 {
	d := distuv.Beta{Alpha: a, Beta: b}
	low, high := math.Log(1e-30), 0.0
	for range 200 {
		mid := (low + high) / 2
		if mid == low || mid == high {
			break
		}
		if d.CDF(math.Exp(mid)) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp((low + high) / 2)
}

// none is the largest rate at which n instances without a hit have at least
// probability p: 1 − p^(1/n).
func none(n uint64, p float64) float64 { return -math.Expm1(math.Log(p) / float64(n)) }

// Excluded is the rate per instance that is excluded at 95 % confidence when
// none of n instances showed an outcome: at any higher rate the outcome would
// have been seen with more than 95 % probability. It is the exact form of the
// rule of three, 3/n. n = 0 excludes nothing: 1.
func Excluded(n uint64) float64 {
	if n == 0 {
		return 1
	}
	return none(n, 1-Confidence)
}

// Reproducibility is the probability that a campaign equal to one that saw an
// outcome in n instances sees it again: 1 − e^−n, as the number of hits of a
// rare outcome is Poisson distributed. Three hits give 95 %.
func Reproducibility(n uint64) float64 { return -math.Expm1(-float64(n)) }

// Rate is hits per instance; 0 of 0 is 0.
func Rate(hits, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(hits) / float64(n)
}
