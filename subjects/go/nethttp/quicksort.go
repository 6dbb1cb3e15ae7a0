package main

// numbers is the input of the workload quicksort, never modified.
var numbers = []int{
	89, 47, 62, 36, 78, 22, 51, 11, 100, 94, 57, 63, 42, 76, 31, 85, 99, 55, 5, 17,
	68, 28, 45, 71, 8, 60, 83, 79, 48, 92, 43, 12, 61, 23, 87, 54, 3, 72, 37, 80,
	98, 26, 65, 53, 16, 25, 95, 39, 74, 20, 50, 91, 69, 40, 75, 30, 86, 4, 58, 19,
	77, 13, 70, 24, 46, 14, 96, 7, 49, 64, 38, 56, 82, 15, 84, 9, 21, 34, 97, 27,
	67, 52, 66, 90, 41, 6, 35, 10, 73, 18, 81, 44, 29, 59, 88, 2, 32, 1, 33, 93,
}

// quickSort returns a sorted copy, building a new list at every step, as the workload requires.
func quickSort(list []int) []int {
	if len(list) < 2 {
		return list
	}
	pivot := list[0]
	var smaller, others []int
	for _, number := range list[1:] {
		if number < pivot {
			smaller = append(smaller, number)
		} else {
			others = append(others, number)
		}
	}
	sorted := append(quickSort(smaller), pivot)
	return append(sorted, quickSort(others)...)
}
