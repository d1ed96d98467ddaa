package faultproxy

import (
	"bytes"
	"encoding/json"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const leases = "leases.coordination.k8s.io"

// renews tells whether a Lease is written that its holder renews. Whoever takes one writes
// the same time of acquisition and renewal, and whoever gives it back writes no holder. A
// Lease that its holder yields counts for none: those that wait for it write it too.
func renews(body []byte) bool {
	lease, err := leaseIn(body)
	if err != nil {
		return false
	}
	s := lease.Spec
	held := s.HolderIdentity != nil && *s.HolderIdentity != "" && lease.Annotations["lynq.sh/holder"] == ""
	return held && s.AcquireTime != nil && s.RenewTime != nil && s.AcquireTime.Time.Before(s.RenewTime.Time)
}

// leaseIn reads a Lease as clients write it: in Kubernetes' protobuf, or as JSON.
func leaseIn(body []byte) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	inner, binary := bytes.CutPrefix(body, []byte("k8s\x00"))
	if !binary {
		return lease, json.Unmarshal(body, lease)
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(inner); err != nil {
		return nil, err
	}
	return lease, lease.Unmarshal(envelope.Raw)
}
