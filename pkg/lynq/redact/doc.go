// Package redact hides a run's secret values in every text that leaves lynqctl.
//
// Values flow in as the run reads them: values of secret columns, passwords, tokens and
// connection strings. Texts flow in, and come out without these values and their usual
// encodings. A context can say that no message about an object may quote its content. The
// package does no IO.
package redact
