package orphan_test

import (
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/orphan"
)

func TestFilter(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	o := orphan.Orphan{
		Reason: wellknown.ReasonNodeDeleted, Since: now.Add(-time.Hour),
		From: orphan.Origin{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Namespace: "shop", Name: "acme-web"}, ID: "db"},
	}
	nothing := orphan.Orphan{}
	for _, test := range []struct {
		name           string
		filter         orphan.Filter
		known, unknown bool // whether the filter matches o, and an orphan with unknown origin
	}{
		{"nothing said", orphan.Filter{}, true, true},
		{"its reason", orphan.Filter{Reasons: []string{wellknown.ReasonRemovedFromTemplate, wellknown.ReasonNodeDeleted}}, true, false},
		{"another reason", orphan.Filter{Reasons: []string{wellknown.ReasonRemovedFromTemplate}}, false, false},
		{"its hub", orphan.Filter{Hubs: []string{"erp", "crm"}}, true, false},
		{"another hub", orphan.Filter{Hubs: []string{"erp"}}, false, false},
		{"its node", orphan.Filter{Nodes: []string{"acme-web"}}, true, false},
		{"its node in its namespace", orphan.Filter{Nodes: []string{"shop/acme-web"}}, true, false},
		{"a node of that name elsewhere", orphan.Filter{Nodes: []string{"other/acme-web"}}, false, false},
		{"another node", orphan.Filter{Nodes: []string{"acme"}}, false, false},
		{"an empty name", orphan.Filter{Nodes: []string{""}, Hubs: []string{""}, Reasons: []string{""}}, false, false},
		{"a name that is only a slash", orphan.Filter{Nodes: []string{"/"}}, false, false},
		{"old enough", orphan.Filter{OlderThan: time.Hour}, true, false},
		{"too young", orphan.Filter{OlderThan: time.Hour + 1}, false, false},
		{"all of it", orphan.Filter{Reasons: []string{wellknown.ReasonNodeDeleted}, Hubs: []string{"crm"}, Nodes: []string{"acme-web"}, OlderThan: time.Minute}, true, false},
		{"all but one", orphan.Filter{Reasons: []string{wellknown.ReasonNodeDeleted}, Hubs: []string{"erp"}, Nodes: []string{"acme-web"}}, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.filter.Matches(&o, now); got != test.known {
				t.Errorf("the orphan is meant: %v", got)
			}
			if got := test.filter.Matches(&nothing, now); got != test.unknown {
				t.Errorf("the unknown one is meant: %v", got)
			}
		})
	}
}
