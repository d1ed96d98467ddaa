package main

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// inputs are those that the line names, nil where it names none. Standard input
// is not ours to read.
func (c *completer) inputs() *form.Inputs {
	var paths []string
	for _, p := range c.values("filename") {
		if p != "-" {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	inputs, _ := form.Load(paths, c.isSet("recursive"), strings.NewReader("")) // what is wrong shows when the line is run
	return inputs
}

// rendered are the nodes that rows and forms make.
func (c *completer) rendered(inputs *form.Inputs) []string {
	in := inputFlags{hubs: c.values("hub"), formNames: c.values("form")}
	forms, err := in.forms(inputs)
	if err != nil {
		return nil
	}
	var hubs []hubPrograms
	for _, h := range inputs.Hubs {
		hubs = append(hubs, hubPrograms{hub: h, programs: []*render.Program{{Namespace: cmp.Or(c.namespaceFlag(), "default")}}})
	}
	// A Secret in the cluster takes longer than a person waits.
	nowhere := func(context.Context, string, string, string) (lynq.Secret, error) { return "", errors.New("not asked") }
	rows := rowSource{override: c.values("source"), passwords: passwords{getenv: c.getenv, secrets: inputs.Secrets, cluster: nowhere}}
	connections, err := rows.connections(c.ctx, hubs, nil)
	if err != nil {
		return nil
	}
	var names []string
	for i, h := range hubs {
		var uids []string
		for _, f := range forms {
			if inputs.Hub(f) != h.hub {
				continue
			}
			if uids == nil {
				uids = activeRows(c.ctx, h.hub, connections[i])
			}
			for _, uid := range uids {
				names = append(names, lynq.NodeName(uid, f.Name))
			}
		}
	}
	return names
}

// activeRows are the uids of a hub's active rows.
func activeRows(ctx context.Context, h *form.Hub, from lynq.Connection) []string {
	q := source.Query{UID: uidColumn(h)}
	activate := ""
	for _, m := range h.Mappings {
		if m.Variable == "activate" {
			activate = m.Column
		}
	}
	q.Columns = []string{q.UID}
	if activate != q.UID {
		q.Columns = append(q.Columns, activate)
	}
	if q.UID == "" || activate == "" || from.Path == "-" {
		return nil
	}
	src, err := source.Open(ctx, from, strings.NewReader(""))
	if err != nil {
		return nil
	}
	defer func() { _ = src.Close() }() // nothing was written
	var uids []string
	for row, err := range src.Records(ctx, q) {
		if err != nil {
			return nil
		}
		if active, err := lynq.ParseActive(row.Values[len(row.Values)-1]); err == nil && active && row.Values[0] != "" {
			uids = append(uids, row.Values[0])
		}
	}
	return uids
}
