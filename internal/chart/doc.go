// Package chart starts lynqctl-chart, which builds kustomizations and charts, and asks it.
//
// Requests flow in from several goroutines, answers flow out. A Helper starts one process
// when the first request needs it. If the process ends, all requests that wait get an error.
package chart
