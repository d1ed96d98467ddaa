package lynq_test

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

func TestFate(t *testing.T) {
	claim := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}
	app := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	data := lynq.Held{Ref: claim, ID: "data", Data: true}
	retained := lynq.Held{Ref: claim, ID: "data", Data: true, Retained: true}
	plain := lynq.Held{Ref: app, ID: "app"}
	both := []lynq.Held{data, plain}
	for _, test := range []struct {
		name   string
		change lynq.NodeChange
		after  []lynq.Ref
		want   lynq.Fate
	}{
		{"it has all it had", lynq.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim, app}, lynq.FateStays},
		{"its row is gone", lynq.NodeChange{Before: both, Leaves: true}, nil, lynq.FateLeaves},
		{"its row is gone, and its objects are retained", lynq.NodeChange{Before: []lynq.Held{retained}, Leaves: true}, nil, lynq.FateLeaves},
		{"another namespace", lynq.NodeChange{Before: both, Leaves: true, To: "eu"}, nil, lynq.FateMoves},
		{"an object without data is renamed", lynq.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim}, lynq.FateStays},
		{"an object with data is renamed", lynq.NodeChange{Before: both, Objects: 2}, []lynq.Ref{app}, lynq.FateLosesData},
		{"an object with data is renamed, and retained", lynq.NodeChange{Before: []lynq.Held{retained, plain}, Objects: 2}, []lynq.Ref{app}, lynq.FateStays},
		{"includeWhen takes any object", lynq.NodeChange{Before: both, Objects: 1, NotIncluded: []string{"app"}}, []lynq.Ref{claim}, lynq.FateNarrowed},
		{"includeWhen takes an object that another resource makes", lynq.NodeChange{Before: both, Objects: 2, NotIncluded: []string{"app"}}, []lynq.Ref{claim, app}, lynq.FateStays},
		{"includeWhen takes a retained object", lynq.NodeChange{Before: []lynq.Held{retained, plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, lynq.FateStays},
		{"includeWhen takes what the node never had", lynq.NodeChange{Before: []lynq.Held{plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, lynq.FateStays},
		{"nothing is left", lynq.NodeChange{Before: []lynq.Held{plain}}, nil, lynq.FateEmptied},
		{"nothing is left but what is retained", lynq.NodeChange{Before: []lynq.Held{retained}}, nil, lynq.FateStays},
		{"there was nothing", lynq.NodeChange{}, nil, lynq.FateStays},
	} {
		test.change.Exists = func(r lynq.Ref) bool { return slices.Contains(test.after, r) }
		if got := test.change.Fate(); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// A refusal names all causes, and the way that keeps the nodes.
func TestToll(t *testing.T) {
	none := func(lynq.Ref) bool { return false }
	claim := lynq.Held{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}, ID: "data", Data: true}
	app := lynq.Held{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}, ID: "app"}
	stays := lynq.NodeChange{Exists: none, Objects: 1}
	leaves := lynq.NodeChange{Leaves: true}
	moves := lynq.NodeChange{Leaves: true, To: "eu"}
	empty := lynq.NodeChange{Exists: none, Before: []lynq.Held{app}}
	narrow := lynq.NodeChange{Exists: none, Objects: 1, Before: []lynq.Held{app}, NotIncluded: []string{"app"}}
	loses := lynq.NodeChange{Exists: none, Objects: 1, Before: []lynq.Held{app, claim}}
	for _, test := range []struct {
		changes   []lynq.NodeChange
		what, fix string
	}{
		{[]lynq.NodeChange{stays, leaves, leaves}, "2 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%)",
			"check the rows; to do this anyway, pass --max-delete=2"},
		{[]lynq.NodeChange{leaves, moves, moves}, "3 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%): 2 move from namespace shop to another",
			"check the namespace, -n shop keeps those nodes; to do this anyway, pass --max-delete=3"},
		{[]lynq.NodeChange{empty, empty}, "2 of 2 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 2 get no object from their forms",
			"check the forms; to do this anyway, pass --max-delete=2"},
		{[]lynq.NodeChange{stays, narrow, loses}, "2 of 3 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 1 lose objects through includeWhen, " +
			"1 lose data through a rename or a dropped resource, the data of PersistentVolumeClaim/shop/acme would be lost",
			"check the rows and the forms; to do this anyway, pass --max-delete=2"},
	} {
		var toll lynq.Toll
		for i := range test.changes {
			toll.Add("shop", &test.changes[i])
		}
		if what, fix := toll.Refusal(1, "25%"); what != test.what || fix != test.fix {
			t.Errorf("%s\n%s", what, fix)
		}
	}
}
