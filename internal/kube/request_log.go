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

// What a RequestLog has of a request, by its level. Bodies are cut from 10 on no more,
// so that this is left out: they may be as long as all of a cluster's objects.
const (
	levelRequests = 6
	levelHeaders  = 7
	levelMost     = 9
)

// RequestLog says what is told of requests, and where, with kubectl's levels: from 6 on
// method, URL and status, from 7 on headers, from 8 on the beginnings of bodies.
// Credentials in headers are masked, and bodies with Secrets are left out. The zero
// value tells nothing.
type RequestLog struct {
	Level int
	Out   io.Writer
}

// LogTo has what client-go and net/http log outside of requests, such as a watch that
// broke off, go to out, and not to standard error by itself. It is called once, before
// anything else.
func LogTo(out io.Writer) {
	log.SetOutput(out)
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(out))))
}

// transport logs the requests that go through it, as their contexts have it.
func (l RequestLog) transport(next http.RoundTripper) http.RoundTripper {
	if l.Level < levelRequests {
		return next
	}
	return transport.NewDebuggingRoundTripper(next, transport.DebugByContext)
}

// of is the logger for requests about a resource. Without one, client-go logs nothing:
// what matters is in the errors.
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

// ofRecords tells whether a request is about no object, or about lynqctl's own records and
// Leases: none of them has a value of a secret column.
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
