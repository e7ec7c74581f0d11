package model_test

import (
	"context"
	"fmt"

	"optcheck/litmus/corpus"
	"optcheck/model"
)

// Message passing without fences under NVIDIA's model and under sequential consistency.
func ExampleModel_Judge() {
	t, _ := corpus.Lookup("mp")
	for _, name := range []string{"ptx", "sc"} {
		m, err := model.Load(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		v, err := m.Judge(context.Background(), t, model.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, "knows", len(v.States), "final states; the condition is reached:", v.Observation)
	}
	// Output:
	// ptx knows 4 final states; the condition is reached: Sometimes
	// sc knows 3 final states; the condition is reached: Never
}
