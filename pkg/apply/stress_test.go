package apply

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/apply/schedule"
	"github.com/lynqctl/lynqctl/pkg/apply/tracking"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/test/inmemory"
)

// chance generates random tenancies. Nodes create namespaces that others need, take objects
// from each other, come and go.
type chance struct{ *rand.Rand }

const (
	stressNodes   = 24
	stressObjects = 60 // nodes need a few of these each
)

func (c chance) nodes() []*plan.Node {
	owner := map[string]int{}
	for i := range stressObjects {
		if c.IntN(4) > 0 {
			owner[fmt.Sprintf("o%d", i)] = c.IntN(stressNodes)
		}
	}
	var nodes []*plan.Node
	for i := range stressNodes {
		if c.IntN(5) == 0 {
			continue
		}
		name := fmt.Sprintf("n%d", i)
		if c.IntN(12) == 0 {
			nodes = append(nodes, &plan.Node{NodeID: lynq.NodeID{Hub: lynq.HubKey{Name: "crm"}, Form: lynq.FormKey{Name: "web"}, UID: name, Namespace: "ns", Name: name}, Failed: errors.New("it failed to render")})
			continue
		}
		nodes = append(nodes, node(name, c.objects(name, i, owner)...))
	}
	return nodes
}

func (c chance) objects(name string, i int, owner map[string]int) []formObject {
	objects := []formObject{configMap(name, fmt.Sprint(c.IntN(3)))}
	if i%6 == 0 {
		objects = append(objects, namespace(fmt.Sprintf("team%d", i)))
	}
	for k := range stressObjects {
		id := fmt.Sprintf("o%d", k)
		if at, wanted := owner[id]; !wanted || at != i {
			continue
		}
		o := configMap(id, fmt.Sprint(c.IntN(3)), objects[0].ID)
		if k%3 == 0 {
			team := fmt.Sprintf("team%d", k%4*6)
			o.Namespace, o.Content["metadata"] = team, map[string]any{"name": id, "namespace": team}
		}
		if k%5 == 0 {
			o.Policy.Deletion = lynq.DeleteRetain
		}
		objects = append(objects, o)
	}
	return objects
}

// trouble makes some writes fail, and cancels the run at one of them.
func (c chance) trouble(s *stage, cancel context.CancelFunc) func(string, lynq.Ref) error {
	left := 1 + c.IntN(120)
	return func(_ string, ref lynq.Ref) error {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		if left--; left == 0 {
			cancel()
		}
		if ref.Namespace != "" && ref.Namespace != "ns" && s.Objects[lynq.Ref{Kind: "Namespace", Name: ref.Namespace}] == nil {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, ref.Namespace)
		}
		switch c.IntN(15) {
		case 0:
			return apierrors.NewInvalid(schema.GroupKind{Kind: ref.Kind}, ref.Name, nil)
		case 1:
			return errors.New("the answer was lost")
		}
		return nil
	}
}

// TestStress checks that runs with random failures and interruptions end. No object has a
// node's tracking without an entry afterwards.
func TestStress(t *testing.T) {
	for seed := range uint64(60) {
		c := chance{rand.New(rand.NewPCG(seed, 1))}
		s := newStage()
		s.options.Concurrency = 1 + c.IntN(6)
		if c.IntN(2) == 0 {
			s.options.Rollouts = map[schedule.Form]schedule.Limits{webOfCRM(): {MaxSkew: 1 + c.IntN(3)}}
		}
		for round := range 6 {
			ctx, cancel := context.WithCancel(bounded(t))
			s.before = c.trouble(s, cancel)
			_, err := s.applied(ctx, c.nodes()...)
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			named := s.notes.names()
			for ref, o := range s.Objects {
				if l := tracking.LiveOf(ref, inmemory.MetadataOf(o)); named[ref] == "" && (l.PartOf != "" || len(l.Owners) > 0 || l.Node != "") {
					t.Fatalf("seed %d, round %d: %s bears tracking, and no inventory has an entry for it", seed, round, ref)
				}
			}
		}
	}
}
