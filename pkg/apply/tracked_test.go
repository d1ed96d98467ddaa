package apply

import (
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestTakingRecordsNoDigest checks that an object which was only tracked isn't recorded as
// written, so that the next run compares it. An object that is created once is recorded.
func TestTakingRecordsNoDigest(t *testing.T) {
	for _, creation := range []lynq.CreationPolicy{lynq.CreateWhenNeeded, lynq.CreateOnce} {
		t.Run(string(creation), func(t *testing.T) {
			s := newStage()
			o := configMap("a", "1")
			o.Policy.Creation, o.Policy.Deletion = creation, lynq.DeleteRetain
			n := func(name string) []*plan.Node { return []*plan.Node{node(name, o), node("z")} }
			mustApply(t, s, n("a")...)
			mustApply(t, s, node("z"))
			s.keepContent = true
			p, err := s.plan(t.Context(), n("a")...)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.run(bounded(t), p); err != nil {
				t.Fatal(err)
			}
			for _, inv := range s.notes.saved {
				for _, r := range inv.Entries {
					if once := creation == lynq.CreateOnce; r.Ref == o.Ref && (r.Digest != "") != once {
						t.Errorf("%s: its digest is %q", creation, r.Digest)
					}
				}
			}
		})
	}
}
