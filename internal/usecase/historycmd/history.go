package historycmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/inventory/history"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// Options say which runs to read.
type Options struct {
	Access    kube.Access
	Timeout   time.Duration // 0 means no limit
	Namespace string        // of the hubs, "" means all
	// Hub is NAME or NAMESPACE/NAME, "" for all.
	Hub   string
	Since time.Time // zero means all
}

// Run is one run on one hub.
type Run struct {
	Hub lynq.HubKey
	*history.Entry
}

// Runs holds the runs that List or Show read.
type Runs struct {
	All []Run // newest first
	// Unread has one line for each part of a history that can't be read.
	Unread []string
}

// Ended returns an error if part of a history couldn't be read.
func (r *Runs) Ended() error {
	if len(r.Unread) == 0 {
		return nil
	}
	return &session.Error{Outcome: session.Failed, Err: session.ErrReported, Summary: "lynqctl couldn't read every run"}
}

// List reads the runs that the options choose.
func List(ctx context.Context, e *session.Engine, o *Options) (*Runs, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	all, unread, err := store.New(client.ConfigMaps()).Histories(ctx, o.Namespace)
	if err != nil {
		return nil, session.Unread(ctx, err)
	}
	runs := &Runs{}
	if unread != nil {
		runs.Unread = strings.Split(unread.Error(), "\n")
	}
	var others []string
	found := false
	for _, h := range all {
		if o.Hub != "" && !(lynq.Names{o.Hub}).Choose(h.Hub.Namespace, h.Hub.Name) {
			others = append(others, h.Hub.Name)
			continue
		}
		found = true
		for _, entry := range h.Entries {
			if !entry.Time.Before(o.Since) {
				runs.All = append(runs.All, Run{h.Hub, entry})
			}
		}
	}
	if o.Hub != "" && !found && unread == nil {
		return nil, session.BadUsage(fmt.Errorf("hub %q has no recorded run%s%s", o.Hub, within(o.Namespace), hint(o.Hub, others)))
	}
	slices.SortStableFunc(runs.All, func(a, b Run) int { return cmp.Compare(b.Run, a.Run) })
	return runs, nil
}

// Show reads one run, with an entry for each hub that it changed. It returns an error if no
// history has the run.
func Show(ctx context.Context, e *session.Engine, o *Options, name string) (*Runs, error) {
	runs, err := List(ctx, e, o)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, r := range runs.All {
		others = append(others, r.Run)
	}
	runs.All = slices.DeleteFunc(runs.All, func(r Run) bool { return r.Run != name })
	if len(runs.All) == 0 {
		return runs, session.BadUsage(fmt.Errorf("there is no recorded run %q%s%s", name, within(o.Namespace), hint(name, others)))
	}
	return runs, nil
}

func within(namespace string) string {
	if namespace == "" {
		return ""
	}
	return " in namespace " + namespace
}

// hint says what to do about an unknown name.
func hint(name string, known []string) string {
	return " (" + cmp.Or(suggest.Fix(name, known), "lynqctl history -A lists all") + ")"
}
