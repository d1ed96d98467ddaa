// Package schemas has the JSON schemas of hubs and forms, which editors and lynqctl explain
// read. It does no IO.
package schemas

import _ "embed" // the schemas

// Hub is the schema of a LynqHub.
//
//go:embed lynqhub.schema.json
var Hub []byte

// Form is the schema of a LynqForm.
//
//go:embed lynqform.schema.json
var Form []byte
