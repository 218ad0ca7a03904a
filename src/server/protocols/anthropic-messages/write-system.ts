import type { Dialogue } from '../dialogue.ts'
import { type Block, cacheControl } from './cache-marks.ts'

/** The instructions at the head, in order, with those that the request itself needs behind them. Blank ones would be refused. */
export function writeSystem({ system }: Dialogue, instruction: string | undefined): Block[] {
  const blocks: Block[] = system
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, cache }) => ({ type: 'text', text, ...cacheControl(cache) }))
  return instruction === undefined ? blocks : [...blocks, { type: 'text', text: instruction }]
}
