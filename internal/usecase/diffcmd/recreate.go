package diffcmd

import (
	"bytes"
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/lynqctl/lynqctl/pkg/apply/write"
	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Try implements apply.Cluster. For an object that apply recreates, the server only says
// that the name is taken. So Try also keeps both sides of the object.
func (t *diffRun) Try(ctx context.Context, r lynq.APIResource, w write.Request) (*unstructured.Unstructured, *metav1.PartialObjectMetadata, error) {
	next, m, err := t.Cluster.Try(ctx, r, w)
	if apierrors.IsForbidden(err) && t.unwritable(ctx, r, w.Namespace, w.Name, err, t.verbs(ctx, r, &w)...) {
		return t.preview(ctx, r, &w)
	}
	if w.Verb == write.Create && apierrors.IsAlreadyExists(err) {
		if lookErr := t.recreated(ctx, r, w); lookErr != nil {
			return nil, nil, lookErr
		}
	}
	return next, m, err
}

// recreated keeps both sides of an object that apply recreates. The server creates the new
// one as a dry run under a free name. If the object can have no other name, recreated uses
// what apply would send.
func (t *diffRun) recreated(ctx context.Context, r lynq.APIResource, w write.Request) error {
	live, err := t.look(ctx, r, w.Namespace, w.Name)
	if err != nil || live == nil {
		return err
	}
	content := map[string]any{}
	if err := json.Unmarshal(w.Body, &content); err != nil {
		return err
	}
	name := "lynqctl-dry-run-" + string(live.GetUID())
	renamed := &unstructured.Unstructured{Object: content}
	renamed.SetName(name)
	body, err := renamed.MarshalJSON()
	if err != nil {
		return err
	}
	next, _, err := t.Cluster.Try(ctx, r, write.Request{Verb: write.Create, Namespace: w.Namespace, Name: name, Body: body})
	if err != nil {
		next = renamed
	}
	if body, err = next.MarshalJSON(); err != nil {
		return err
	}
	body = bytes.ReplaceAll(body, []byte(name), []byte(w.Name))
	if uid := string(next.GetUID()); uid != "" { // a Job's pods have it as a label, which differs each time
		body = bytes.ReplaceAll(body, []byte(uid), []byte(live.GetUID()))
	}
	content = map[string]any{}
	if err := json.Unmarshal(body, &content); err != nil {
		return err
	}
	t.keep(r, w.Namespace, w.Name, sides{live: live.Object, next: content})
	return nil
}
