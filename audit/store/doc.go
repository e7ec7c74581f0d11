// Package store keeps the results of audits in a file: an SQLite database that
// several processes may write at once and that survives their being killed.
//
// The event stream of package report is the contract: a store is filled from
// events and gives them back. What repeats is kept once: the cell of a campaign
// is a handful of small numbers. Tests, results, listings and artefacts are told
// apart by their content.
//
// The key of a cell is everything that decides its result: the test's hash and
// name, the toolchain's name and build, target, level, layout, and the setting,
// which is the version of the specification, the build of optcheck, the source
// language, flags and models. A cell with the same key is never stored twice;
// two results for one key are an error.
//
// It does not audit and does not render.
package store
