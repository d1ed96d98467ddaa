package watchcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// inputFacts has the names by which people know inputs: the files with their digests, the
// hubs and the forms.
type inputFacts struct {
	Files       map[string]string
	Hubs, Forms map[string]bool
}

// startedNote returns the first line of a watch's log. It is a pure function.
func startedNote(version string, paths []string, facts inputFacts, listen string) string {
	line := fmt.Sprintf("lynqctl %s watches %s: %s with %s and %s", version, strings.Join(paths, ", "),
		phrase.Count(len(facts.Files), "file"), phrase.Count(len(facts.Hubs), "hub"), phrase.Count(len(facts.Forms), "form"))
	if listen != "" {
		line += "; metrics and health at http://" + listen
	}
	return line
}

// inputsNote says how inputs differ from the earlier ones. It is a pure function.
func inputsNote(before, after inputFacts) string {
	var news []string
	tell := func(verb, noun string, names []string) {
		if len(names) > 0 {
			slices.Sort(names)
			news = append(news, fmt.Sprintf("%s %s %s", verb, noun, phrase.Some(names)))
		}
	}
	without := func(a, b map[string]bool) []string {
		return slices.DeleteFunc(slices.Collect(maps.Keys(a)), func(name string) bool { return b[name] })
	}
	var added, changed, removed []string
	for name, digest := range after.Files {
		switch old, known := before.Files[name]; {
		case !known:
			added = append(added, name)
		case old != digest:
			changed = append(changed, name)
		}
	}
	for name := range before.Files {
		if _, stays := after.Files[name]; !stays {
			removed = append(removed, name)
		}
	}
	tell("added", "file", added)
	tell("changed", "file", changed)
	tell("removed", "file", removed)
	tell("added", "hub", without(after.Hubs, before.Hubs))
	tell("removed", "hub", without(before.Hubs, after.Hubs))
	tell("added", "form", without(after.Forms, before.Forms))
	tell("removed", "form", without(before.Forms, after.Forms))
	if len(news) == 0 {
		return "lynqctl loaded the inputs again, and they are the same"
	}
	return "lynqctl loaded the inputs again because they changed: " + strings.Join(news, "; ")
}

// earlyNote says why a round ends early.
func earlyNote(hub lynq.HubKey, why string) string {
	return fmt.Sprintf("hub %s: the round ends early because %s. The next round goes on waiting", hub, why)
}

// waitingNote names the objects that a round still waits for, with their nodes.
func waitingNote(hub lynq.HubKey, objects []string) string {
	slices.Sort(objects)
	return fmt.Sprintf("hub %s: the round waits until %s ready: %s", hub, isAre(len(objects)), phrase.Some(objects))
}

func isAre(objects int) string {
	if objects == 1 {
		return "1 object is"
	}
	return phrase.Count(objects, "object") + " are"
}

// busyNote returns the log line about another hub that is busy for too long. It is a pure
// function.
func busyNote(hub, other lynq.HubKey) string {
	return fmt.Sprintf("warning: hub %s: objects that move between it and %s stay where they are for now: that hub has been busy for %s, for example because its source doesn't answer", hub, other, joinWithin)
}

// slowNote returns the log line about rows whose reading takes long. It is a pure function.
func slowNote(hub lynq.HubKey, limit time.Duration, meanwhile string) string {
	return fmt.Sprintf("warning: hub %s: lynqctl has been reading its rows for %s, and %s until the reading ends. Check for locks and slow queries on the server", hub, limit, meanwhile)
}

// surveyingNote returns the log line about deletions that wait for the rows of other hubs.
// It is a pure function.
func surveyingNote(hub lynq.HubKey) string {
	return fmt.Sprintf("hub %s: its deletions wait until lynqctl has read the rows of the other hubs, which may render the objects", hub)
}

// unsurveyedNote returns the log line about deletions that wait until the rows of other
// hubs can be read. It is a pure function.
func unsurveyedNote(hub lynq.HubKey, err error) string {
	return fmt.Sprintf("warning: hub %s: its deletions wait until lynqctl can read the rows of all hubs, which may render the objects: %v", hub, err)
}
