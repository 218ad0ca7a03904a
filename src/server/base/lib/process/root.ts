import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the project: the sources, the built modules and the bundle that `npm start` runs lie at different depths below it. */
export const root = rootAbove(dirname(fileURLToPath(import.meta.url)))

/** A built module, also when the sources run: not every supported Node starts a thread from TypeScript. */
export function builtModule(path: string): string {
  return join(root, 'dist/server', path)
}

function rootAbove(folder: string): string {
  if (existsSync(join(folder, 'VERSION'))) return folder
  const above = dirname(folder)
  if (above === folder) throw new Error('The file VERSION is missing: it lies beside package.json')
  return rootAbove(above)
}
