// Package cat is the language in which memory models are written (files
// *.cat): lexer, parser with positions, kind check, a compiler to flat
// programs over bit matrices that are evaluated very many times, and a general
// interpreter for the whole language.
//
// It knows nothing of litmus tests and of how executions are enumerated: the
// base sets and relations come from outside, by name.
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
// Application takes a name at its head: f(x, y), f x, f(x)(y), f [S].
package cat
