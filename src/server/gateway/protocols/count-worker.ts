import { parentPort } from 'node:worker_threads'
import { countWhole, type Vocabulary } from './count-tokens.ts'

/** The worker thread that counts the tokens of long prompts, so that they block nothing else. */
export interface CountTask {
  readonly id: number
  readonly text: string
  readonly vocabulary: Vocabulary
}

export interface CountAnswer {
  readonly id: number
  readonly tokens: number
}

const port = parentPort
if (!port) throw new Error('Prompts are counted in a worker thread only')

port.on('message', ({ id, text, vocabulary }: CountTask) => {
  void countWhole(text, vocabulary).then((tokens) => port.postMessage({ id, tokens } satisfies CountAnswer))
})
