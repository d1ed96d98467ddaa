package watchcmd

import (
	"errors"
	"testing"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// TestWatchMessages compares the messages of a watch with a golden file.
func TestWatchMessages(t *testing.T) {
	t.Parallel()
	hub := lynq.HubKey{Namespace: "shop", Name: "crm"}
	before := inputFacts{
		Files: map[string]string{"in/hub.yaml": "1", "in/web.yaml": "1", "in/old.yaml": "1"},
		Hubs:  map[string]bool{"shop/crm": true}, Forms: map[string]bool{"shop/crm/web": true, "shop/crm/old": true},
	}
	after := inputFacts{
		Files: map[string]string{"in/hub.yaml": "1", "in/web.yaml": "2", "in/new.yaml": "1", "in/two.yaml": "1"},
		Hubs:  map[string]bool{"shop/crm": true, "shop/two": true}, Forms: map[string]bool{"shop/crm/web": true, "shop/two/new": true},
	}
	for _, test := range []struct{ got, want string }{
		{startedNote("1.2.3", []string{"in", "more.yaml"}, before, "127.0.0.1:8080"), "lynqctl 1.2.3 watches in, more.yaml: 3 files with 1 hub and 2 forms; metrics and health at http://127.0.0.1:8080"},
		{startedNote("1.2.3", []string{"in"}, inputFacts{}, ""), "lynqctl 1.2.3 watches in: 0 files with 0 hubs and 0 forms"},
		{inputsNote(before, before), "lynqctl loaded the inputs again, and they are the same"},
		{inputsNote(before, after), "lynqctl loaded the inputs again because they changed: added file in/new.yaml, in/two.yaml; changed file in/web.yaml; removed file in/old.yaml; added hub shop/two; added form shop/two/new; removed form shop/crm/old"},
		{earlyNote(hub, "lynqctl tries a failed node again"), "hub shop/crm: the round ends early because lynqctl tries a failed node again. The next round goes on waiting"},
		{waitingNote(hub, []string{"b"}), "hub shop/crm: the round waits until 1 object is ready: b"},
		{waitingNote(hub, []string{"d", "b", "a", "e", "c"}), "hub shop/crm: the round waits until 5 objects are ready: a, b, c and 2 more"},
		{busyNote(hub, lynq.HubKey{Namespace: "shop", Name: "eu"}), "warning: hub shop/crm: objects that move between it and shop/eu stay where they are for now: that hub has been busy for 1m0s, for example because its source doesn't answer"},
		{slowNote(hub, time.Minute, "the last good rows count"), "warning: hub shop/crm: lynqctl has been reading its rows for 1m0s, and the last good rows count until the reading ends. Check for locks and slow queries on the server"},
		{surveyingNote(hub), "hub shop/crm: its deletions wait until lynqctl has read the rows of the other hubs, which may render the objects"},
		{unsurveyedNote(hub, errors.New("no answer")), "warning: hub shop/crm: its deletions wait until lynqctl can read the rows of all hubs, which may render the objects: no answer"},
	} {
		t.Run(test.got, func(t *testing.T) {
			t.Parallel()

			if test.got != test.want {
				t.Errorf("got  %s\nwant %s", test.got, test.want)
			}
		})
	}
}
