// Package endpoint says where rows are and how to get there: the connection of a hub's source,
// with its URL, its TLS mode and its secrets, which print as REDACTED. It checks the URLs of
// APIs, and opens no connection.
package endpoint
