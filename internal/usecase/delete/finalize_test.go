package delete

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/inventory"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestCompletionChooses(t *testing.T) {
	tornToo := func(all *Records) { all.Broken[0].Deleting = true }
	hubToo := func(all *Records) { all.Hubs[0].Deleting = true }
	forgedToo := func(all *Records) {
		all.Nodes[4].Deleting = true
		all.Broken = append(all.Broken, &inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Namespace: "ns", Name: "crm"}, Namespace: "forged"}, Name: "nonsense", Deleting: true})
	}
	secret := func(namespace, name string) map[lynq.Ref]bool {
		return map[lynq.Ref]bool{{Kind: "Secret", Namespace: namespace, Name: name}: true}
	}
	for _, tt := range []struct {
		name       string
		completion completion
		change     func(*Records)
		want       string
		unread     int
	}{
		{"what was deleted, without its neighbours", completion{}, nil, "ns/crm [ns/acme-web]", 0},
		{"in its namespace", completion{namespace: "ns"}, nil, "ns/crm [ns/acme-web]", 0},
		{"in another one", completion{namespace: "far"}, nil, "", 0},
		{"of its hub", completion{hub: "crm"}, nil, "ns/crm [ns/acme-web]", 0},
		{"of another one", completion{hub: "shop"}, nil, "", 0},
		{"by name", completion{nodes: []string{"acme-web", "bolt-web"}}, nil, "ns/crm [ns/acme-web]", 0},
		{"by another name", completion{nodes: []string{"bolt-web"}}, nil, "", 0},
		{"one that cannot be read", completion{}, tornToo, "ns/crm [ns/acme-web ns/torn-web]", 0},
		{"of its hub, by namespace and name", completion{hub: "ns/crm"}, nil, "ns/crm [ns/acme-web]", 0},
		{"of another one of that name", completion{hub: "far/crm"}, nil, "", 0},
		{"what does not count", completion{}, forgedToo, "ns/crm [ns/acme-web]", 0},
		{"what does not count, in the namespace that is named", completion{namespace: "forged"}, forgedToo, "ns/crm [forged/ghost-web]", 1},
		{"a hub", completion{}, hubToo, "ns/crm [ns/acme-web ns/bolt-web ns/held-web ns/torn-web other/bolt-queue] and its record", 0},
		{"a hub, where its nodes are elsewhere", completion{namespace: "other"}, hubToo, "", 0},
		{"a node of a hub", completion{nodes: []string{"bolt-web"}}, hubToo, "", 0},
		{"a hub that another finalizer holds", completion{hub: "crm", namespace: "far"}, func(all *Records) { all.Hubs[1].Deleting, all.Hubs[1].Finalizer = true, false }, "", 0},
		{"a hub that cannot be read", completion{}, func(all *Records) {
			all.Broken = append(all.Broken, &inventory.UnreadableError{Node: lynq.NodeID{Hub: lynq.HubKey{Name: "shop"}, Namespace: "ns"}, Name: "lynqhub-shop", Deleting: true})
		}, "ns/crm [ns/acme-web]", 1},
		{"given up", completion{giveUp: secret("ns", "acme")}, nil, "ns/crm [ns/acme-web]", 0},
		{"given up, of a node that stays", completion{giveUp: secret("ns", "bolt")}, nil,
			"error: --force: no inventory that is being deleted has an entry for Secret/ns/bolt (list entries with 'lynqctl inventory show NODE')", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := someRecords()
			if tt.change != nil {
				tt.change(all)
			}
			if got := chosen(&tt.completion, all); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if got := len(tt.completion.unread); got != tt.unread {
				t.Errorf("%d records are unread, want %d", got, tt.unread)
			}
		})
	}
}

// TestCompletionWarns wants a warning for a deleted inventory that doesn't count, unless
// the user named its namespace.
func TestCompletionWarns(t *testing.T) {
	all := someRecords()
	all.Nodes[4].Deleting = true
	for _, tt := range []struct {
		completion completion
		want       int
	}{
		{completion{}, 1}, {completion{hub: "crm"}, 1}, {completion{hub: "far/crm"}, 0}, {completion{namespace: "forged"}, 0},
	} {
		if _, err := tt.completion.Choose(all); err != nil || len(tt.completion.Warnings()) != tt.want {
			t.Errorf("hub %q, namespace %q: warnings %q and error %v, want %d", tt.completion.hub, tt.completion.namespace, tt.completion.Warnings(), err, tt.want)
		}
	}
	all.Nodes[4].Deleting = false
	if c := (completion{}); len(chosen(&c, all)) == 0 || len(c.Warnings()) > 0 {
		t.Errorf("it is not being deleted: %q", c.Warnings())
	}
}
