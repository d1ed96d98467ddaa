package statuscmd

import (
	"context"
	"errors"
	"time"

	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/apply/wait"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/wellknown"
	"github.com/lynqctl/lynqctl/pkg/status"
)

// Pauses of a watch between two reads: after a read, in relation to its length, and after a
// change of a record.
const (
	lookEvery   = 5 * time.Second
	lookAgain   = time.Second
	lookingPart = 10
)

// conditionDeleted is the condition of a node whose inventory is gone.
const conditionDeleted = "Deleted"

// follower is one run of Follow. It reads like List, whenever records changed or enough
// time has passed.
type follower struct {
	o       Options
	client  *kube.Client
	records *records
	shown   map[lynq.NodeKey]status.Node // by the last look
	looked  chan look
}

// look holds what one look of a watch saw, and the nodes that changed since the last one.
type look struct {
	*Status
	news []status.Node
}

// Follow shows the states of nodes until the context ends. It calls show after each look,
// with the nodes that changed since the last one. It also calls show once a second, for
// ages.
func Follow(ctx context.Context, e *session.Engine, o *Options, show func(now time.Time, s *Status, news []status.Node) error) error {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return err
	}
	resource, err := client.Resource(ctx, "", "v1", "ConfigMap")
	if err != nil {
		return session.Unread(ctx, err)
	}
	f := follower{
		o: *o, client: client, records: newRecords(o.Selector),
		shown: map[lynq.NodeKey]status.Node{}, looked: make(chan look),
	}
	f.o.repeated = true
	namespaces := []string{o.Namespace}
	if o.Namespace == "" && len(client.Namespaces()) > 0 {
		namespaces = client.Namespaces()
	}
	ended := make(chan error, 1+len(namespaces))
	go func() { ended <- f.lookOn(ctx) }()
	for _, namespace := range namespaces {
		go func() {
			ended <- client.WatchMetadata(ctx, resource, wait.Scope{Namespace: namespace, Labels: wellknown.LabelRecord}, f.records)
		}()
	}
	last, err := f.show(ended, show)
	switch known := (*session.Error)(nil); {
	case errors.As(err, &known):
		return err
	case err != nil:
		return session.Unread(ctx, err)
	}
	if timeout := (*session.TimeoutError)(nil); last != nil && errors.As(context.Cause(ctx), &timeout) {
		return last.Ended()
	}
	return session.Unread(ctx, context.Cause(ctx))
}

// show shows each look until the watch ends, and new ages every second. It returns the last
// look, or nil if there was none.
func (f *follower) show(ended <-chan error, show func(now time.Time, s *Status, news []status.Node) error) (last *Status, err error) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		var news []status.Node
		select {
		case err := <-ended:
			return last, err
		case l := <-f.looked:
			last, news = l.Status, l.news
		case <-second.C:
		}
		if last == nil {
			continue
		}
		if err := show(time.Now(), last, news); err != nil {
			return last, session.Fail(err)
		}
	}
}

// lookOn looks again and again until the context ends. The first look begins together with
// the watch of records, so that it misses no change.
func (f *follower) lookOn(ctx context.Context) error {
	var late <-chan time.Time
	for {
		if !f.wait(ctx, late) {
			return nil
		}
		began := time.Now()
		deleted := f.records.takeDeleted()
		s, err := f.o.look(ctx, f.client)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case err != nil:
			continue // the context has ended
		}
		f.o.IgnoreNotFound = true // a node may disappear now
		took := time.Since(began)
		if !f.o.Recorded {
			late = time.After(max(lookEvery, lookingPart*took))
		}
		select {
		case <-ctx.Done():
			return nil
		case f.looked <- look{s, f.news(s.Nodes, deleted)}:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(lookAgain, took)):
		}
	}
}

// wait waits until a record changed, or late has a value. It returns false if the context
// ended.
func (f *follower) wait(ctx context.Context, late <-chan time.Time) bool {
	for {
		noted := f.records.Noted()
		if f.records.Any() {
			f.records.Take()
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-noted:
		case <-late:
			return true
		}
	}
}

// news returns the nodes that changed since the last look. If a node disappeared, it was
// deleted, or the options no longer choose it, or the watch of records reports it soon.
func (f *follower) news(nodes []status.Node, deleted map[lynq.NodeKey]bool) (news []status.Node) {
	seen := map[lynq.NodeKey]bool{}
	for _, n := range nodes {
		key := n.Key()
		if key.Name == "" {
			key.Name = n.Message // a record without a name has its own message
		}
		seen[key] = true
		before, known := f.shown[key]
		f.shown[key] = n
		if (!known || before != n) && (!f.o.FailedOnly || !n.Well || known && !before.Well) {
			news = append(news, n)
		}
	}
	for key, n := range f.shown {
		if seen[key] || f.records.knows(key) {
			continue
		}
		delete(f.shown, key)
		if deleted[key] {
			n.Condition, n.Since, n.Message, n.Well = conditionDeleted, time.Time{}, "", false
			news = append(news, n)
		}
	}
	status.Sort(news)
	return news
}
