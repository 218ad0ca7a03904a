import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

/** The semantic version of this program, from the file `VERSION`. */
export const version = readFileSync(join(root, 'VERSION'), 'utf8').trim()

interface Manifest {
  readonly publication: { readonly releases: string }
}

/** Where this program's releases are listed, from `publication` in package.json. Empty until the project is published. */
export function releasesAddress(): string {
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return manifest.publication.releases
}
