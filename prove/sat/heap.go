package sat

// heap has variables, that of the highest score first; of equal ones the lower number.
type heap struct {
	score []float64
	list  []int32
	at    []int32 // -1 if it is not in the list
}

func newHeap(score []float64) heap {
	h := heap{score: score, list: make([]int32, len(score)), at: make([]int32, len(score))}
	for i := range h.list {
		h.list[i], h.at[i] = int32(i), int32(i)
	}
	return h
}

func (h *heap) less(a, b int32) bool {
	return h.score[a] > h.score[b] || h.score[a] == h.score[b] && a < b
}

func (h *heap) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if !h.less(h.list[i], h.list[p]) {
			return
		}
		h.swap(i, p)
		i = p
	}
}

func (h *heap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h.list) {
			return
		}
		if c+1 < len(h.list) && h.less(h.list[c+1], h.list[c]) {
			c++
		}
		if !h.less(h.list[c], h.list[i]) {
			return
		}
		h.swap(i, c)
		i = c
	}
}

func (h *heap) swap(i, k int) {
	h.list[i], h.list[k] = h.list[k], h.list[i]
	h.at[h.list[i]], h.at[h.list[k]] = int32(i), int32(k)
}

func (h *heap) pop() int {
	if len(h.list) == 0 {
		return -1
	}
	v := h.list[0]
	h.swap(0, len(h.list)-1)
	h.list = h.list[:len(h.list)-1]
	h.at[v] = -1
	h.down(0)
	return int(v)
}

func (h *heap) push(v int) {
	if h.at[v] >= 0 {
		return
	}
	h.at[v] = int32(len(h.list))
	h.list = append(h.list, int32(v))
	h.up(len(h.list) - 1)
}

func (h *heap) raise(v int) {
	if h.at[v] >= 0 {
		h.up(int(h.at[v]))
	}
}
