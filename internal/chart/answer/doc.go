// Package answer answers the requests of lynqctl in the process of lynqctl-chart.
//
// Lines of requests flow in, lines of answers flow out. The functions that build, open and
// render come from the caller, because the package knows no library. A panic of a library
// becomes a problem of the request.
package answer
