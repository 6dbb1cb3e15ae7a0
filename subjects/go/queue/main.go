// Command queue adds one to each of n numbers, in a loop or with n goroutines, and prints their sum.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
)

const (
	mostNumbers = 10_000_000
	mostWorkers = 1024
)

func main() {
	workers := flag.Int("workers", 0, "share the work among so many goroutines that run at once; 0 does it in one place")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: queue [-workers W] sync|async N") }
	flag.Parse()

	mode, n, err := arguments(flag.Args())
	if err == nil && (*workers < 0 || *workers > mostWorkers) {
		err = fmt.Errorf("-workers %d: must be a number from 0 to %d", *workers, mostWorkers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "queue:", err)
		flag.Usage()
		os.Exit(2)
	}
	sum := work(mode, n, *workers)
	if _, err := os.Stdout.WriteString(strconv.FormatInt(sum, 10) + "\n"); err != nil {
		fmt.Fprintln(os.Stderr, "queue:", err)
		os.Exit(1)
	}
}

func arguments(given []string) (mode string, n int, err error) {
	if len(given) != 2 {
		return "", 0, fmt.Errorf("%d arguments; there are two, sync or async and a number", len(given))
	}
	if mode = given[0]; mode != "sync" && mode != "async" {
		return "", 0, fmt.Errorf("%q: must be sync or async", mode)
	}
	if n, err = strconv.Atoi(given[1]); err != nil || n < 0 || n > mostNumbers {
		return "", 0, fmt.Errorf("%q: must be a whole number from 0 to %d", given[1], mostNumbers)
	}
	return mode, n, nil
}

func work(mode string, n, workers int) int64 {
	switch {
	case workers > 0:
		return parallel(mode, n, workers)
	case mode == "async":
		return serialTasks(n)
	default:
		return serialLoop(n)
	}
}
