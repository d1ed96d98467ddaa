package initcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/existing"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/kinds"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/lynq/suggest"
)

// findObjects reads objects from the cluster.
func (o *Options) findObjects(ctx context.Context, e *session.Engine) (*found, error) {
	namespace, err := session.NamespaceMeant(&o.Access, o.Namespace, false)
	if err != nil {
		return nil, err
	}
	o.Namespace = namespace
	client, err := e.ConnectToLook(&o.Access)
	if err != nil {
		return nil, err
	}
	served, unserved := client.Listable(ctx)
	if unserved != nil && len(served) == 0 {
		return nil, unserved
	}
	f := &found{}
	var objects []existing.Live
	var refused []error
	for _, name := range append([]string{o.From}, o.Args...) {
		r, object, err := resourceNamed(served, name)
		if err != nil {
			return nil, errors.Join(err, unserved)
		}
		in := ""
		if r.Namespaced {
			in = namespace
		}
		m, content, err := client.ReadObject(ctx, r, in, object)
		if err != nil {
			return nil, fmt.Errorf("%s/%s: %w", r.Kind, object, err)
		}
		l := existing.Live{Metadata: m, Content: content}
		if slices.ContainsFunc(objects, func(other existing.Live) bool { return other.Metadata.UID == m.UID }) {
			continue
		}
		if err := existing.Refused(&l); err != nil {
			refused = append(refused, fmt.Errorf("%s/%s: %w", r.Kind, object, err))
		}
		if owners := m.OwnerReferences; len(owners) > 0 {
			f.notes = append(f.notes, fmt.Sprintf("%s/%s: the form leaves out its owner %s/%s", r.Kind, object, owners[0].Kind, owners[0].Name))
		}
		if r.Group == "" && r.Kind == "Secret" {
			f.notes = append(f.notes, fmt.Sprintf("%s/%s: its values stay in the cluster, and the form has none", r.Kind, object))
		}
		objects = append(objects, l)
	}
	if err := errors.Join(refused...); err != nil {
		return nil, err
	}
	return f, o.formOf(f, objects)
}

// formOf completes what is found with the tenant of the objects.
func (o *Options) formOf(f *found, objects []existing.Live) error {
	tenant := cmp.Or(o.Tenant, existing.Tenant(objects))
	switch {
	case tenant == "":
		return errors.New("the names have no common beginning (name the tenant with --tenant)")
	case !naming.IsDNS1123Subdomain(tenant):
		return fmt.Errorf("--tenant: %q can't be the beginning of names in Kubernetes", tenant)
	}
	f.hub, f.rows = "tenants", [][]string{{tenant}}
	f.form = func(names existing.Names, _ *draft.Draft) (string, error) {
		return existing.Form(names, objects, tenant)
	}
	f.notes = append(f.notes, fmt.Sprintf("tenant %s: texts that are its name, or begin with it, are templates now", tenant))
	return nil
}

// resourceNamed returns the resource and the name in KIND/NAME. KIND may be that of an object,
// or its plural, in any case, with or without its group.
func resourceNamed(served []lynq.APIResource, text string) (r lynq.APIResource, name string, err error) {
	kind, name, found := strings.Cut(text, "/")
	if !found || kind == "" || name == "" || strings.Contains(name, "/") {
		return r, "", fmt.Errorf("%q is no object (write KIND/NAME, such as Deployment/acme)", text)
	}
	var known []string
	var matching []lynq.APIResource
	for _, r := range served {
		for _, word := range []string{r.Kind, r.Plural} {
			known = append(known, r.Kind)
			if strings.EqualFold(kind, word) || strings.EqualFold(kind, word+"."+r.Group) {
				matching = append(matching, r)
				break
			}
		}
	}
	// Names of Kubernetes win over those of others, as they do in kubectl.
	if own := slices.DeleteFunc(slices.Clone(matching), func(r lynq.APIResource) bool { return !kinds.BuiltIn(r.Group) }); len(own) > 0 {
		matching = own
	}
	switch {
	case len(matching) == 0:
		fix := suggest.Fix(kind, known)
		return r, "", fmt.Errorf("the cluster has no kind %q (%s)", kind, cmp.Or(fix, "kubectl api-resources lists kinds"))
	case len(matching) > 1 && matching[0].Group != matching[1].Group && matching[0].Group != "":
		return r, "", fmt.Errorf("the cluster has several kinds %q (write %s.%s/%s, or that of the other group)", kind, matching[0].Plural, matching[0].Group, name)
	}
	return matching[0], name, nil
}
