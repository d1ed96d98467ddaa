package kube

import (
	"io"
	"log"
	"net/http"
	"slices"
	"strings"

	"k8s.io/client-go/transport"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
)

// The contents of a RequestLog by level. From 10 on, client-go doesn't cut bodies, which
// may be as long as all of a cluster's objects. So lynqctl doesn't use those levels.
const (
	levelRequests = 6
	levelHeaders  = 7
	levelBodies   = 8
	levelMost     = 9
)

// RequestLog says what to log of requests, and where, with kubectl's levels. From 6 on it
// logs method, URL and status, from 7 on headers, from 8 on the beginnings of bodies. It
// masks credentials in headers, and omits bodies with Secrets. The zero value logs nothing.
type RequestLog struct {
	Level int
	Out   io.Writer
}

// LogTo redirects to out what client-go and net/http log outside of requests, such as a
// broken watch. Otherwise they write to standard error. The program calls it once, before
// anything else.
func LogTo(out io.Writer) {
	log.SetOutput(out)
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out))))
}

// transport logs the requests through it, as their contexts say.
func (l RequestLog) transport(next http.RoundTripper) http.RoundTripper {
	if l.Level < levelRequests {
		return next
	}
	return transport.NewDebuggingRoundTripper(next, transport.DebugByContext)
}

// of returns the logger for requests about a resource. Without one, client-go logs nothing,
// because errors contain what matters.
func (l RequestLog) of(r *request, bodies bool) klog.Logger {
	level := min(l.Level, levelMost)
	if isSecret(r.resource) || !bodies && !r.ofRecords() {
		level = min(level, levelHeaders)
	}
	if level < 1 {
		return klog.Logger{}
	}
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Verbosity(level), textlogger.Output(l.Out)))
}

// ofRecords reports whether a request is about no object, or about lynqctl's own records
// and Leases. None of them has a value of a secret column.
func (r *request) ofRecords() bool {
	switch {
	case r.path != "":
		return true
	case r.resource.Group == "coordination.k8s.io":
		return true
	case r.resource.Group != "" || r.resource.Plural != "configmaps":
		return false
	}
	return strings.HasPrefix(r.params.Get("labelSelector"), wellknown.LabelRecord+"=") || slices.ContainsFunc(wellknown.ReservedNames("", "ConfigMap"), func(prefix string) bool {
		return strings.HasPrefix(r.name, prefix)
	})
}
