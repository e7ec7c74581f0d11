// Package store keeps the results of audits in a file: an SQLite database that several
// processes may write at once and that survives the death of any of them.
//
// The event stream of package report is the contract: a store is filled from events and returns
// them. It keeps repeated content once: a cell of a campaign is a handful of small numbers.
// Tests, results, listings and artefacts are identified by their content.
//
// The key of a cell is everything that determines its result: the test's hash and name, the
// toolchain's name and build, target, level, layout, and the setting, which is the version of
// the specification, the build of optcheck, the source language, flags and models. A cell with
// the same key is never stored twice; two results for one key are an error.
//
// It does not audit and does not render.
package store
