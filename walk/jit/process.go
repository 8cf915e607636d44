package jit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// inContainer returns the number that a process has where it runs: the last one of NSpid (proc_pid_status(5)).
func inContainer(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // without the file the number is as good as any
	for line := range strings.Lines(string(status)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			words := strings.Fields("0 " + numbers)
			if n, err := strconv.Atoi(words[len(words)-1]); err == nil && n > 0 {
				return n
			}
		}
	}
	return pid
}

// beganAt returns when a process began, or zero: field 22 of /proc/PID/stat counts ticks since the system started, of
// which every system has 100 a second (USER_HZ).
func beganAt(pid int) time.Time {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	system, _ := os.ReadFile("/proc/stat")
	_, after, _ := strings.Cut(string(system), "\nbtime ")
	line, _, _ := strings.Cut(after, "\n")
	booted, err := strconv.ParseInt(line, 10, 64)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from the third
	const start, ticks = 22 - 3, 100
	if err != nil || len(fields) <= start {
		return time.Time{}
	}
	n, err := strconv.ParseInt(fields[start], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(booted, 0).Add(time.Duration(n) * time.Second / ticks)
}
