package toll_test

import (
	"slices"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/toll"
)

func TestFate(t *testing.T) {
	claim := lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}
	app := lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}
	data := toll.Held{Ref: claim, ID: "data", Data: true}
	retained := toll.Held{Ref: claim, ID: "data", Data: true, Retained: true}
	plain := toll.Held{Ref: app, ID: "app"}
	both := []toll.Held{data, plain}
	for _, test := range []struct {
		name   string
		change toll.NodeChange
		after  []lynq.Ref
		want   toll.Fate
	}{
		{"it has all it had", toll.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim, app}, toll.FateStays},
		{"its row is gone", toll.NodeChange{Before: both, Leaves: true}, nil, toll.FateLeaves},
		{"its row is gone, and its objects are retained", toll.NodeChange{Before: []toll.Held{retained}, Leaves: true}, nil, toll.FateLeaves},
		{"another namespace", toll.NodeChange{Before: both, Leaves: true, To: "eu"}, nil, toll.FateMoves},
		{"an object without data is renamed", toll.NodeChange{Before: both, Objects: 2}, []lynq.Ref{claim}, toll.FateStays},
		{"an object with data is renamed", toll.NodeChange{Before: both, Objects: 2}, []lynq.Ref{app}, toll.FateLosesData},
		{"an object with data is renamed, and retained", toll.NodeChange{Before: []toll.Held{retained, plain}, Objects: 2}, []lynq.Ref{app}, toll.FateStays},
		{"includeWhen takes any object", toll.NodeChange{Before: both, Objects: 1, NotIncluded: []string{"app"}}, []lynq.Ref{claim}, toll.FateNarrowed},
		{"includeWhen takes an object that another resource makes", toll.NodeChange{Before: both, Objects: 2, NotIncluded: []string{"app"}}, []lynq.Ref{claim, app}, toll.FateStays},
		{"includeWhen takes a retained object", toll.NodeChange{Before: []toll.Held{retained, plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, toll.FateStays},
		{"includeWhen takes what the node never had", toll.NodeChange{Before: []toll.Held{plain}, Objects: 1, NotIncluded: []string{"data"}}, []lynq.Ref{app}, toll.FateStays},
		{"nothing is left", toll.NodeChange{Before: []toll.Held{plain}}, nil, toll.FateEmptied},
		{"nothing is left but what is retained", toll.NodeChange{Before: []toll.Held{retained}}, nil, toll.FateStays},
		{"there was nothing", toll.NodeChange{}, nil, toll.FateStays},
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
	claim := toll.Held{Ref: lynq.Ref{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "acme"}, ID: "data", Data: true}
	app := toll.Held{Ref: lynq.Ref{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "acme"}, ID: "app"}
	stays := toll.NodeChange{Exists: none, Objects: 1}
	leaves := toll.NodeChange{Leaves: true}
	moves := toll.NodeChange{Leaves: true, To: "eu"}
	empty := toll.NodeChange{Exists: none, Before: []toll.Held{app}}
	narrow := toll.NodeChange{Exists: none, Objects: 1, Before: []toll.Held{app}, NotIncluded: []string{"app"}}
	loses := toll.NodeChange{Exists: none, Objects: 1, Before: []toll.Held{app, claim}}
	for _, test := range []struct {
		changes   []toll.NodeChange
		what, fix string
	}{
		{[]toll.NodeChange{stays, leaves, leaves}, "2 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%)",
			"check the rows; to do this anyway, pass --max-delete=2"},
		{[]toll.NodeChange{leaves, moves, moves}, "3 of 3 nodes would be deleted, the limit is 1 (--max-delete=25%): 2 move from namespace shop to another",
			"check the namespace, -n shop keeps those nodes; to do this anyway, pass --max-delete=3"},
		{[]toll.NodeChange{empty, empty}, "2 of 2 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 2 get no object from their forms",
			"check the forms; to do this anyway, pass --max-delete=2"},
		{[]toll.NodeChange{stays, narrow, loses}, "2 of 3 nodes would be deleted or lose objects, the limit is 1 (--max-delete=25%): 1 lose objects through includeWhen, " +
			"1 lose data through a rename or a dropped resource, the data of PersistentVolumeClaim/shop/acme would be lost",
			"check the rows and the forms; to do this anyway, pass --max-delete=2"},
	} {
		var toll toll.Toll
		for i := range test.changes {
			toll.Add("shop", &test.changes[i])
		}
		if what, fix := toll.Refusal(1, "25%"); what != test.what || fix != test.fix {
			t.Errorf("%s\n%s", what, fix)
		}
	}
}

// TestNamed checks that a refusal names the first nodes that leave, and counts the others.
func TestNamed(t *testing.T) {
	var refused toll.Toll
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		refused.Add("ns", &toll.NodeChange{Leaves: true})
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
	}
}
