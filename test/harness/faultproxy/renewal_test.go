package faultproxy

import (
	"encoding/json"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func TestRenews(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) *metav1.MicroTime {
		return &metav1.MicroTime{Time: noon.Add(time.Duration(minutes) * time.Minute)}
	}
	holder := "ann"
	for name, tt := range map[string]struct {
		spec        coordinationv1.LeaseSpec
		annotations map[string]string
		want        bool
	}{
		"renewed":    {coordinationv1.LeaseSpec{HolderIdentity: &holder, AcquireTime: at(0), RenewTime: at(1)}, nil, true},
		"yielded":    {coordinationv1.LeaseSpec{HolderIdentity: &holder, AcquireTime: at(0), RenewTime: at(1)}, map[string]string{"lynq.sh/holder": "continuous"}, false},
		"taken":      {coordinationv1.LeaseSpec{HolderIdentity: &holder, AcquireTime: at(1), RenewTime: at(1)}, nil, false},
		"given back": {coordinationv1.LeaseSpec{AcquireTime: at(0)}, nil, false},
		"nameless":   {coordinationv1.LeaseSpec{AcquireTime: at(0), RenewTime: at(1)}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Annotations: tt.annotations}, Spec: tt.spec}
			text, err := json.Marshal(lease)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := lease.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			envelope, err := (&runtime.Unknown{Raw: raw}).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			for how, body := range map[string][]byte{"JSON": text, "protobuf": append([]byte("k8s\x00"), envelope...)} {
				if got := renews(body); got != tt.want {
					t.Errorf("%s, in %s: %t, want %t", name, how, got, tt.want)
				}
			}
		})
	}
	for _, body := range []string{"", "k8s\x00?", "no Lease"} {
		t.Run(body, func(t *testing.T) {
			if renews([]byte(body)) {
				t.Errorf("%q renews a Lease", body)
			}
		})
	}
}
