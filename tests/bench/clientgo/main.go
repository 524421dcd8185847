// The work queue of client-go, measured as davit-bench --micro measures Davit's: same keys, same turns, one line a figure.
// Run both in turn, a few times each, and compare medians of one run.
package main

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
)

const keyCount = 100_000

// CPU of the whole process, the collector's threads included.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func show(what string, value float64, unit string) {
	fmt.Printf("%-62s %12.1f %s\n", "client-go: "+what, value, unit)
}

func each(count int, call func(int)) float64 {
	begun := cpu()
	for i := range count {
		call(i)
	}
	return float64(cpu()-begun) / float64(count)
}

// What a controller's queue holds: a namespace and a name, as here, or both in one string.
type objectName struct{ namespace, name string }

func measure[K comparable](kind string, key func(int) K) {
	keys := make([]K, keyCount)
	for i := range keys {
		keys[i] = key(i)
	}
	queue := workqueue.NewTyped[K]()
	turn := func() {
		key, _ := queue.Get()
		queue.Done(key)
	}
	show(kind+": add, get, done, one key at a time", each(keyCount*10, func(i int) {
		queue.Add(keys[i%keyCount])
		turn()
	}), "ns")
	show(kind+": 100,000 added, then got and done, each", each(10, func(int) {
		for _, key := range keys {
			queue.Add(key)
		}
		for range keys {
			turn()
		}
	})/keyCount, "ns")
	queue.ShutDown()

	waiting := workqueue.NewTypedDelayingQueue[K]()
	before := heap()
	for i := range keyCount {
		waiting.AddAfter(key(i), time.Hour) // a key of its own: the queue holds what its caller made
	}
	time.Sleep(time.Second) // its own goroutine takes them up
	show(kind+": 100,000 waiting keys", float64(heap()-before)/1e6, "MB")
	waiting.ShutDown()
}

func main() {
	measure("names", func(i int) objectName {
		return objectName{fmt.Sprintf("team-%d", i%50), fmt.Sprintf("service-%d-7d4b9c6f5d", i)}
	})
	measure("strings", func(i int) string {
		return fmt.Sprintf("team-%d/service-%d-7d4b9c6f5d", i%50, i)
	})
}
