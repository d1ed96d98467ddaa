package faultproxy

import (
	"bytes"
	"encoding/json"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const leases = "leases.coordination.k8s.io"

// renews reports whether a request renews a Lease. A client that takes a Lease writes the
// same time for acquisition and renewal, and one that releases it writes no holder. A Lease
// that its holder yields doesn't count, because waiting clients write it, too.
func renews(body []byte) bool {
	lease, err := leaseIn(body)
	if err != nil {
		return false
	}
	s := lease.Spec
	held := s.HolderIdentity != nil && *s.HolderIdentity != "" && lease.Annotations["lynq.sh/holder"] == ""
	return held && s.AcquireTime != nil && s.RenewTime != nil && s.AcquireTime.Time.Before(s.RenewTime.Time)
}

// leaseIn decodes a Lease from Kubernetes' protobuf, or from JSON.
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
