import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'

export interface RunningProxy {
  readonly url: string
  stop(): Promise<void>
}

interface ProxyStart {
  readonly command: string
  readonly args: readonly string[]
  /** The folder with its settings, which is deleted when the proxy has stopped. */
  readonly folder: string
  readonly port: number
  /** Whether the proxy's reply shows that it is ready; by default any reply does. */
  readonly isUp?: (response: Response) => boolean
}

/** Starts an installed proxy on loopback, and resolves when it can be used. */
export async function startProxy({ command, args, folder, port, isUp = () => true }: ProxyStart): Promise<RunningProxy> {
  const child = spawn(command, args, { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  const answers = () => fetch(`${url}/readyz`).then(isUp, () => false)
  for (let tries = 0; !(await answers()); tries++) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    if (tries === 500) throw new Error(`${command} did not start`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
