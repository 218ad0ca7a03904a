import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { builtModule } from '../../base/lib/process/root.ts'

/** The server takes over this process: signals and the exit code are its own. */
export const serveCommand = new Command('serve').description('Start the server').action(async () => {
  await import(pathToFileURL(builtModule('main.js')).href)
})
