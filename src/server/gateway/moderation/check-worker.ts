import { parentPort } from 'node:worker_threads'
import { findWord, WordList } from './word-list.ts'

/**
 * The worker thread that checks large prompts, so that they block nothing else. The list is sent once, with the first text after it
 * changed.
 */
export interface CheckTask {
  readonly id: number
  readonly list: readonly string[] | undefined
  readonly texts: readonly string[]
}

export interface CheckAnswer {
  readonly id: number
  readonly found: string | undefined
}

const port = parentPort
if (!port) throw new Error('The check of prompts runs as a worker thread only')

let words = new WordList([])

port.on('message', ({ id, list, texts }: CheckTask) => {
  if (list) words = new WordList(list)
  port.postMessage({ id, found: findWord(words, texts) } satisfies CheckAnswer)
})
