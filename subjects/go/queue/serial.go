package main

import "sync"

// serialLoop takes each number out of a slice, adds one and puts it back.
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

// serialTasks has a goroutine for each number. The channel holds all numbers and hands them out in their order, so the first
// n that are taken are those that were put in at the start, and each of them is raised once.
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

// sum adds in 64 bits on every machine: ten million numbers make 5e13.
func sum(numbers []int) int64 {
	var total int64
	for _, value := range numbers {
		total += int64(value)
	}
	return total
}
