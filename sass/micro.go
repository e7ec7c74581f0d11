package sass

import "optcheck/isa"

// lower fills in.Micro.
func lower(p *parser, in *isa.Inst, sm int) {}
