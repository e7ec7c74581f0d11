package verify

import "optcheck/ir"

// mend looks for what would mend the races of a result.
func (o *Options) mend(p *ir.Program, lines Lines, r *Result) {}
