import { pathToFileURL } from 'node:url'
import { Command } from 'commander'
import { builtModule } from '../../base/lib/process/root.ts'
import { prepareStart, type StartOptions } from '../prepare-start.ts'

/** The server takes over this process: signals and the exit code are its own. */
export const serveCommand = new Command('serve')
  .description('Start the server')
  .option('--port <number>', 'port to listen on, instead of PORT')
  .option('--open', 'open the console in the browser when the server is ready')
  .action(async (options: StartOptions) => {
    prepareStart(options)
    await import(pathToFileURL(builtModule('main.js')).href)
  })
