package main

import "sync"

// parallel gives each worker a part of one slice. A worker fills its part, works on it and sums it; no other worker touches it.
func parallel(mode string, n, workers int) int64 {
	numbers := make([]int, n)
	sums := make([]int64, workers)
	var running sync.WaitGroup
	running.Add(workers)
	for worker := range workers {
		go func() {
			defer running.Done()
			first := n * worker / workers
			part := numbers[first : n*(worker+1)/workers]
			for i := range part {
				part[i] = first + i
			}
			if mode == "async" {
				tasks(part)
			} else {
				loop(part)
			}
			sums[worker] = sum(part)
		}()
	}
	running.Wait()
	var total int64
	for _, sum := range sums {
		total += sum
	}
	return total
}

func loop(part []int) {
	for i := range part {
		value := part[i]
		value++
		part[i] = value
	}
}

// tasks starts a goroutine for each number of the part. Each has its own element, so no lock is needed.
func tasks(part []int) {
	var tasks sync.WaitGroup
	tasks.Add(len(part))
	for i := range part {
		go func() {
			defer tasks.Done()
			value := part[i]
			value++
			part[i] = value
		}()
	}
	tasks.Wait()
}
