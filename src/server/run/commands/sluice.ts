#!/usr/bin/env node
import '../../base/lib/process/require-node.ts'

/** The program `sluice`. Its commands use modules that an older Node does not have, so they are loaded after it is refused. */
await import('./program.ts')
