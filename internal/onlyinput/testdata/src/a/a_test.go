package a

import "os"

func test() { os.Open("x") }
