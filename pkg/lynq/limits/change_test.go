package limits_test

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

func TestFate(t *testing.T) {
	claim := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}
	app := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	data := limits.Object{Ref: claim, ID: "data", Data: true}
	retained := limits.Object{Ref: claim, ID: "data", Data: true, Retained: true}
	plain := limits.Object{Ref: app, ID: "app"}
	both := []limits.Object{data, plain}
	for _, test := range []struct {
		name   string
		change limits.NodeChange
		after  []lynq.Ref
		want   limits.ChangeKind
	}{
		{"it has all it had", limits.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim, app}, limits.NodeStays},
		{"its row is gone", limits.NodeChange{Before: both, Leaves: true}, nil, limits.NodeLeaves},
		{"its row is gone, and its objects are retained", limits.NodeChange{Before: []limits.Object{retained}, Leaves: true}, nil, limits.NodeLeaves},
		{"another namespace", limits.NodeChange{Before: both, Leaves: true, To: "eu"}, nil, limits.NodeMoves},
		{"an object without data is renamed", limits.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim}, limits.NodeStays},
		{"an object with data is renamed", limits.NodeChange{Before: both, Objects: 2}, []lynq.Ref{app}, limits.NodeLosesData},
		{"an object with data is renamed, and retained", limits.NodeChange{Before: []limits.Object{retained, plain}, Objects: 2}, []lynq.Ref{app}, limits.NodeStays},
		{"includeWhen takes any object", limits.NodeChange{Before: both, Objects: 1, NotIncluded: []string{"app"}}, []lynq.Ref{claim}, limits.NodeNarrowed},
		{"includeWhen takes an object that another resource makes", limits.NodeChange{Before: both, Objects: 2, NotIncluded: []string{"app"}}, []lynq.Ref{claim, app}, limits.NodeStays},
		{"includeWhen takes a retained object", limits.NodeChange{Before: []limits.Object{retained, plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, limits.NodeStays},
		{"includeWhen takes what the node never had", limits.NodeChange{Before: []limits.Object{plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, limits.NodeStays},
		{"nothing is left", limits.NodeChange{Before: []limits.Object{plain}}, nil, limits.NodeEmptied},
		{"nothing is left but what is retained", limits.NodeChange{Before: []limits.Object{retained}}, nil, limits.NodeStays},
		{"there was nothing", limits.NodeChange{}, nil, limits.NodeStays},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.change.Exists = func(r lynq.Ref) bool { return slices.Contains(test.after, r) }
			if got := test.change.Kind(); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

// A refusal names all causes, and the way that keeps the nodes.
func TestToll(t *testing.T) {
	none := func(lynq.Ref) bool { return false }
	claim := limits.Object{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}, ID: "data", Data: true}
	app := limits.Object{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}, ID: "app"}
	stays := limits.NodeChange{Exists: none, Objects: 1}
	leaves := limits.NodeChange{Leaves: true}
	moves := limits.NodeChange{Leaves: true, To: "eu"}
	empty := limits.NodeChange{Exists: none, Before: []limits.Object{app}}
	narrow := limits.NodeChange{Exists: none, Objects: 1, Before: []limits.Object{app}, NotIncluded: []string{"app"}}
	loses := limits.NodeChange{Exists: none, Objects: 1, Before: []limits.Object{app, claim}}
	for _, test := range []struct {
		changes   []limits.NodeChange
		what, fix string
	}{
		{[]limits.NodeChange{stays, leaves, leaves}, "2 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%)",
			"check the rows; to do this anyway, pass --max-delete=2"},
		{[]limits.NodeChange{leaves, moves, moves}, "3 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%): 2 move from namespace shop to another",
			"check the namespace, -n shop keeps those nodes; to do this anyway, pass --max-delete=3"},
		{[]limits.NodeChange{empty, empty}, "2 of 2 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 2 get no object from their forms",
			"check the forms; to do this anyway, pass --max-delete=2"},
		{[]limits.NodeChange{stays, narrow, loses}, "2 of 3 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 1 lose objects through includeWhen or values of a chart, " +
			"1 lose data through a rename or a dropped resource, the data of PersistentVolumeClaim/shop/acme would be lost",
			"check the rows and the forms; to do this anyway, pass --max-delete=2"},
	} {
		t.Run(test.what, func(t *testing.T) {
			var count limits.Count
			for i := range test.changes {
				count.Add("shop", &test.changes[i])
			}
			if what, fix := count.Refusal(1, "25%"); what != test.what || fix != test.fix {
				t.Errorf("%s\n%s", what, fix)
			}
		})
	}
}

// TestNamed checks that a refusal names the first nodes that leave, and counts the others.
func TestNamed(t *testing.T) {
	var refused limits.Count
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		t.Run(name, func(t *testing.T) {
			refused.Add("ns", &limits.NodeChange{Leaves: true})
			refused.Named = append(refused.Named, name)
			want := map[string]string{
				"a": "1 of 1 nodes would be deleted (a), the limit is 0 (--max-delete=0)",
				"c": "3 of 3 nodes would be deleted (a, b, c), the limit is 0 (--max-delete=0)",
				"d": "4 of 4 nodes would be deleted (a, b, c and 1 more), the limit is 0 (--max-delete=0)",
				"e": "5 of 5 nodes would be deleted (a, b, c and 2 more), the limit is 0 (--max-delete=0)",
			}[name]
			if what, _ := refused.Refusal(0, "0"); want != "" && what != want {
				t.Errorf("%q, want %q", what, want)
			}
		})
	}
}
