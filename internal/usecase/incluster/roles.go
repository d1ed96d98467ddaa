package incluster

import (
	"context"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/deploy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/rbac"
)

// roles adds the least permissions, bound to the ServiceAccount.
func (g *gatherer) roles(ctx context.Context, inputs *load.Inputs, connections []endpoint.Connection, out *deploy.Options) error {
	hubs, err := g.hubs(inputs.Hubs, connections, out)
	if err != nil {
		return session.BadUsage(err)
	}
	purposes := []rbac.Purpose{g.o.For}
	rights, err := rightsOf(ctx, g.Engine, &RightsOptions{Apply: g.o.Apply, For: purposes, Optional: g.o.Optional, Shards: g.o.Apply.Shard.Count}, inputs, hubs, g.tombstones)
	if err != nil {
		return err
	}
	keys, account := load.HubKeys(inputs.Hubs), rbac.Account{Namespace: out.Namespace, Name: out.Name}
	m, err := rbac.NewManifests(*rights, purposes, keys, g.o.roleName(out), account)
	if err != nil { // too many hubs, or too long names
		m, err = rbac.NewManifests(*rights, purposes, keys, "lynqctl-"+out.Namespace+"-"+out.Name, account)
	}
	if err != nil {
		return session.BadUsage(err)
	}
	for _, note := range rights.Notes {
		g.Notef("warning: %s", note)
	}
	out.Roles = m.YAML()
	return nil
}

// hubs returns the hubs for which the pods need permissions. If all hubs use one database,
// and its password's Secret is in the pods' namespace, the pods get the password as a
// variable. Otherwise they read Secrets, which needs permissions.
func (g *gatherer) hubs(all []load.HubPrograms, connections []endpoint.Connection, out *deploy.Options) ([]rbac.Hub, error) {
	var hubs []rbac.Hub
	var servers []int
	for i, h := range all {
		hub, err := hubRights(h, nil) // the Secrets of the inputs aren't part of the pods' files
		if err != nil {
			return nil, err
		}
		if connections[i].Type.HasServer() {
			servers = append(servers, i)
		} else {
			hub.Secret, hub.Certificate = lynq.Ref{}, lynq.Ref{}
		}
		hubs = append(hubs, hub)
	}
	if len(servers) == 1 {
		if hub := &hubs[servers[0]]; hub.Secret.Name != "" && hub.Secret.Namespace == out.Namespace {
			from := all[servers[0]].Hub.Password
			out.Password, hub.Secret = deploy.SecretKey{Name: from.SecretName, Key: from.SecretKey}, lynq.Ref{}
		}
	}
	return hubs, nil
}

// roleName returns the name of the roles, or "" for a name from the hubs. Shards have other
// roles than a watch, which may run beside them.
func (o *options) roleName(out *deploy.Options) string {
	if o.Kind == deploy.Deployment {
		return ""
	}
	return "lynqctl-" + out.Namespace + "-" + strings.TrimPrefix(out.Name, "lynqctl-")
}
