package main

import "sync"

// serialLoop adds one to each number of a slice.
func serialLoop(n int) int64 {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	for i := range numbers {
		value := numbers[i]
		value++
		numbers[i] = value
	}
	return sum(numbers)
}

// serialTasks starts a goroutine for each number. The channel contains all numbers and returns them in order. So the first n
// received are the original ones, and each is incremented once.
func serialTasks(n int) int64 {
	queue := make(chan int, n)
	for i := range n {
		queue <- i
	}
	var tasks sync.WaitGroup
	tasks.Add(n)
	for range n {
		go func() {
			defer tasks.Done()
			value := <-queue
			value++
			queue <- value
		}()
	}
	tasks.Wait()
	close(queue)
	var total int64
	for value := range queue {
		total += int64(value)
	}
	return total
}

// sum uses 64 bits on every machine: the sum of ten million numbers is 5e13.
func sum(numbers []int) int64 {
	var total int64
	for _, value := range numbers {
		total += int64(value)
	}
	return total
}
