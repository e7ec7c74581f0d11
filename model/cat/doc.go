// Package cat is the language in which memory models are written (files
// *.cat): lexer, parser with positions, kind check, a compiler to flat
// programs over bit matrices that are evaluated very many times, and a general
// interpreter for the whole language.
//
// It knows nothing of litmus tests and of how executions are enumerated: the
// base sets and relations come from outside, by name.
//
// # Use
//
// Parse or ReadFile reads a model, Compile checks it against a Signature (the
// names of the base sets and relations) and returns a Program. If the program
// is Flat, a Machine evaluates it: bind the inputs, then Run a Plan. A plan
// computes what depends on changed inputs and can be known already, so an
// engine computes constant parts once per test. A Check tells whether its
// failure is final however much certain inputs grow (FailsForever). Programs
// that are not flat (Program.Rare says why, and where) run on an Interp, which
// knows the whole language and forks at "with … from"; it runs flat ones too,
// to the same result.
//
// # Language
//
// The language is that of herd (its grammar is the reference where accounts
// differ). Operators from loosest to tightest: | (union), ++ (insertion), ;
// (composition), \ (difference, left associative), & (intersection), * (product),
// prefix ~, postfix ^-1 + * ?, application. Two places are wider than herd's
// grammar, which makes them syntax errors: ~a * b is (~a) * b and ~a+ is
// ~(a+). A product of three sets without parentheses is an error here as there.
// The star is a product if an operand can follow it, else the closure.
// Application takes a name at its head: f(x, y), f x, f(x)(y), f [S], and binds
// tighter than the postfix operators: f x+ is (f x)+. Functions may be defined
// with several parameters (let f x y = …), and 0 is the empty set as well as
// the empty relation, both of which herd does not have.
//
// Definitions are evaluated when they are needed. A definition that nothing
// needs may mention names that do not exist (a Warning); any other mistake in
// it is an error. A recursive definition of sets and relations is evaluated as
// in herd: from empty values, later definitions of a group seeing the new
// values of earlier ones, until every new value is included in the old one. If
// that does not happen, the evaluation ends with ErrNoFixpoint.
//
// Not supported, and an error where used: the primitives lift, delift,
// deliftinter, bisimulation, fromto, tag2fenced, different-values, same-oa,
// at-least-one-writable and oa-changes. The declarations "instructions" and
// "default" of bell files have no effect on a model, as in herd, and are worth
// a warning.
package cat
